import type { Banner } from '@stagi/contract/site.ts';

const STORED = 'dismissedBanners';
const KEPT = 50;

/** The banners that were not dismissed in this browser. */
export function notDismissed(banners: readonly Banner[]): Banner[] {
  const gone = new Set(dismissed());
  return banners.filter((banner) => !gone.has(keyOf(banner)));
}

/** A banner with a changed text counts as new. */
export function dismissBanner(banner: Banner): void {
  localStorage.setItem(STORED, JSON.stringify([keyOf(banner), ...dismissed()].slice(0, KEPT)));
}

const keyOf = ({ layout, title, description }: Banner) => `${layout}|${title}|${description}`;

function dismissed(): string[] {
  const raw = localStorage.getItem(STORED);
  if (raw === null) return [];
  try {
    const list: unknown = JSON.parse(raw);
    return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : [];
  } catch (cause) {
    console.warn(`Ignoring what browser storage holds under ${STORED}`, cause);
    return [];
  }
}

import type { RawFiles } from '@stagi/contract/projectCode.ts';

/** The address of a file as it is, on the content host. */
export function rawLink({ link }: RawFiles, path: string, { download = false } = {}): string {
  const base = link.endsWith('/') ? link : `${link}/`;
  return `${base}${path.split('/').map(encodeURIComponent).join('/')}${download ? '?download' : ''}`;
}

/** Read anew before the links end, ms. */
const EARLIER_MS = 60_000;
const LEAST_MS = 30_000;

/** When a page must read its links anew, as `refetchInterval` of its query. */
export function untilExpiry(raw: RawFiles | null | undefined): number | false {
  if (!raw) return false;
  return Math.max(LEAST_MS, new Date(raw.expiresAt).getTime() - Date.now() - EARLIER_MS);
}

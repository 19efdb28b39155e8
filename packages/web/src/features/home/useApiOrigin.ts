import { useSyncExternalStore } from 'react';
import { apiOrigin } from '../../api/apiOrigin.ts';
import { PRERENDERED_ORIGIN } from '../../prerender/prerenderedPages.ts';

/** The origin of the API as commands name it. Hydration begins with what the server wrote into the page. */
export function useApiOrigin(): string {
  return useSyncExternalStore(never, () => apiOrigin(window.location), writtenOrigin);
}

const never = () => () => {};

function writtenOrigin(): string {
  if (typeof document === 'undefined') return PRERENDERED_ORIGIN;
  const canonical = document.querySelector<HTMLLinkElement>('link[rel="canonical"]');
  return canonical ? new URL(canonical.href).origin : apiOrigin(window.location);
}

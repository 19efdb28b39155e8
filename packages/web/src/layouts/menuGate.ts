import { LOCALE } from '@stagi/contract/languages.ts';
import type { MenuItem } from '@stagi/contract/menu.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import type { Route } from '@stagi/contract/routes.ts';
import { currentLanguage } from '../i18n/i18n.ts';

/** The permissions of which any one would do, in the words of the language. */
export function anyOf(permissions: readonly Permission[]): string {
  return new Intl.ListFormat(LOCALE[currentLanguage()], { type: 'disjunction' }).format(permissions);
}

interface Viewer {
  mobile: boolean;
  anonymous: boolean;
  permissions: readonly Permission[];
}

/** Whether the menu lists an item at all; greying is another matter. */
export function isShown(item: MenuItem, { mobile, anonymous, permissions }: Viewer): boolean {
  if (item.onlyAnonymousMobile && !(mobile && anonymous)) return false;
  return !item.shownWith || holdsAny(permissions, item.shownWith);
}

/** Whether a route lets these permissions in; any one of its own suffices. */
export function opens(route: Route, permissions: readonly Permission[]): boolean {
  return !route.permissions || holdsAny(permissions, route.permissions);
}

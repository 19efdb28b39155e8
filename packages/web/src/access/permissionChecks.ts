import { LOCALE } from '@stagi/contract/languages.ts';
import type { MenuItem } from '@stagi/contract/menu.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';
import type { Route } from '@stagi/contract/routes.ts';
import { currentLanguage } from '../i18n/i18n.ts';

/** "A, B or C", in the person's language. */
export function permissionsText(permissions: readonly Permission[]): string {
  return new Intl.ListFormat(LOCALE[currentLanguage()], { type: 'disjunction' }).format(permissions);
}

interface Viewer {
  mobile: boolean;
  anonymous: boolean;
  permissions: readonly Permission[];
}

/** Whether the menu lists an item at all. A listed item may still be disabled. */
export function isMenuItemShown(item: MenuItem, { mobile, anonymous, permissions }: Viewer): boolean {
  if (item.onlyAnonymousMobile && !(mobile && anonymous)) return false;
  return !item.shownWith || holdsAny(permissions, item.shownWith);
}

/** Whether any one of the permissions that the route asks for is held. */
export function canOpen(route: Route, permissions: readonly Permission[]): boolean {
  return !route.permissions || holdsAny(permissions, route.permissions);
}

import type { MenuItem } from '@stagi/contract/menu.ts';
import { holdsAny, type Permission } from '@stagi/contract/permissions.ts';

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

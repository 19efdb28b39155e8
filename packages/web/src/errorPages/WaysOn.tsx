import { MENU } from '@stagi/contract/menu.ts';
import { holdsAny } from '@stagi/contract/permissions.ts';
import { isMenuItemShown } from '../access/permissionChecks.ts';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { MenuLink } from '../navigation/MenuLink.tsx';
import classes from './MessagePage.module.css';

/** The pages of the menu that the visitor or the signed-in person can open from here. */
export function WaysOn() {
  const t = useT();
  const state = useUserState();
  const permissions = state.is === 'signed-in' ? state.user.permissions : [];
  const items = MENU.filter(
    (item) =>
      isMenuItemShown(item, { mobile: false, anonymous: state.is === 'anonymous', permissions }) &&
      (!item.needs || holdsAny(permissions, item.needs)),
  );
  return (
    <nav className={classes.ways} aria-label={t('Other pages')}>
      {items.map((item) => (
        <MenuLink key={item.testId} item={item} />
      ))}
    </nav>
  );
}

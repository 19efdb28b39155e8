import { ROUTES } from '@stagi/contract/routes.ts';
import { Link } from 'react-router';
import { track } from '../../api/analytics.ts';
import type { CurrentUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import classes from './ProfileMenu.module.css';

/** The person's own pages. */
export function ProfileLinks({ user }: { user: CurrentUser }) {
  const t = useT();
  const billing = user.permissions.includes('BILLING');
  return (
    <>
      <Link className={classes.item} to={ROUTES.account.path} onClick={() => track('header_tab_profile_clicked')}>
        {t('Profile')}
      </Link>
      <Link className={classes.item} to={ROUTES.sshKeys.path}>
        {t(ROUTES.sshKeys.title)}
      </Link>
      {billing && (
        <>
          <Link className={classes.item} to={ROUTES.balance.path}>
            {t(ROUTES.balance.title)}
          </Link>
          <Link className={classes.item} to={ROUTES.usage.path}>
            {t(ROUTES.usage.title)}
          </Link>
        </>
      )}
      {user.permissions.includes('EMPLOYEE') && (
        <Link className={classes.item} to={ROUTES.adminUsers.path} data-testid="menu-admin">
          {t(ROUTES.admin.title)}
        </Link>
      )}
    </>
  );
}

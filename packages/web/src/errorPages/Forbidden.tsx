import type { Route } from '@stagi/contract/routes.ts';
import { Link, Navigate, useLocation } from 'react-router';
import { canOpen, permissionsText } from '../access/permissionChecks.ts';
import { useSignedIn } from '../api/session.ts';
import { useUserIfSignedIn } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { Button } from '../ui/Button.tsx';
import { MessagePage } from './MessagePage.tsx';
import { WaysOn } from './WaysOn.tsx';

/** Whoever comes from a page that their role does not open reads which permission it asks for. */
export function Forbidden() {
  const t = useT();
  const from = useLocation().state as Route | null;
  const user = useUserIfSignedIn();
  const signedIn = useSignedIn();
  // Their role has come to include it while they read this.
  if (from?.permissions && user && canOpen(from, user.permissions) && !from.path.includes(':'))
    return <Navigate to={from.path} replace />;
  return (
    <MessagePage
      code="403"
      title={t('No access')}
      action={
        <>
          {!signedIn && (
            <Button component={Link} to={paths.signIn()}>
              {t('Log in')}
            </Button>
          )}
          <Button color="gray" component={Link} to={paths.home()}>
            {t('Go to the start page')}
          </Button>
        </>
      }
      ways={<WaysOn />}
    >
      {!signedIn ? (
        t('You are not logged in. Log in with an account that may open the page.')
      ) : user && !user.workspace ? (
        t('You are not in a workspace. Ask somebody to invite you, or create one in your profile.')
      ) : from?.permissions ? (
        <>
          {t('{{name}} needs a permission that your role in this workspace does not include: {{permissions}}', {
            name: t(from.title),
            permissions: permissionsText(from.permissions),
          })}
          <br />
          {/* Nobody in a workspace makes somebody one of the platform's staff. */}
          {!from.permissions.includes('EMPLOYEE') && t('An owner or admin of the workspace can change your role.')}
        </>
      ) : (
        t('Your role in this workspace does not allow this. An owner or admin of the workspace can change it.')
      )}
    </MessagePage>
  );
}

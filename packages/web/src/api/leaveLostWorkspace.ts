import { ROUTES } from '@stagi/contract/routes.ts';
import { t } from '../i18n/i18n.ts';
import { keepToastForNextPage, toast } from '../ui/toasts.ts';
import { forgetLostWorkspace, type StoredWorkspace } from './workspace.ts';

/**
 * Notifies a person that they lost the workspace of this tab. Leaves a page that shows the workspace for the root, which
 * opens their next workspace and shows the notice there. Returns whether the page is left.
 */
export function leaveLostWorkspace(email: string, lost: StoredWorkspace): boolean {
  const notice = t('You are no longer a member of “{{workspace}}”', { workspace: lost.clientName });
  if (!showsWorkspace(window.location.pathname)) {
    toast.notice(notice);
    return false;
  }
  keepToastForNextPage(notice, 'notice');
  forgetLostWorkspace(email, lost);
  // Nothing typed here could be sent any more.
  window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true });
  window.location.assign('/');
  return true;
}

/** The cloud's own address only leads on, to what the workspace has. */
const showsWorkspace = (pathname: string): boolean =>
  pathname !== ROUTES.cloud.path &&
  Object.values(ROUTES).some(
    ({ layout, path }) => layout === 'app' && (pathname === path || pathname.startsWith(`${path}/`)),
  );

import { Link } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { Button } from '../ui/Button.tsx';
import { Notice } from './Notice.tsx';

/** For a person without a workspace: what happened and what to do. */
export function NoWorkspaceNotice() {
  const t = useT();
  return (
    <Notice
      title={t('You belong to no workspace')}
      detail={t('If yours was disabled, a mail told you why. Make another, or ask somebody to invite you to theirs.')}
      action={
        <Button size="xs" color="gray" component={Link} to={paths.newWorkspace()} data-testid="no-workspace">
          {t('Create a workspace')}
        </Button>
      }
    />
  );
}

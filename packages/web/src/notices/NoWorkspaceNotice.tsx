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
      title={t('You are not in a workspace')}
      detail={t('If yours was disabled, we emailed you the reason. Create another, or ask to be invited to one.')}
      action={
        <Button size="xs" color="gray" component={Link} to={paths.newWorkspace()} data-testid="no-workspace">
          {t('Create a workspace')}
        </Button>
      }
    />
  );
}

import { IconCheck } from '@tabler/icons-react';
import { Link } from 'react-router';
import { type CurrentUser, switchWorkspace } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ROLE_NAMES } from '../../i18n/roleNames.ts';
import { paths } from '../../paths.ts';
import { CutText } from '../../ui/CutText.tsx';
import classes from './ProfileMenu.module.css';

/** The person's workspaces with their roles. Choosing another one reloads the app. */
export function WorkspaceList({ user }: { user: CurrentUser }) {
  const t = useT();
  return (
    <>
      <div className={classes.heading}>{t('Workspaces')}</div>
      {user.profile.clientRelations.map((relation) => {
        const current = relation.clientId === user.workspace?.clientId;
        return (
          <button
            key={relation.clientId}
            type="button"
            className={classes.workspace}
            aria-current={current || undefined}
            onClick={() => switchWorkspace(user, relation)}
          >
            <span className={classes.workspaceText}>
              <CutText>{relation.clientName}</CutText>
              <span className={classes.role}>{t(ROLE_NAMES[relation.roleName])}</span>
            </span>
            {current && <IconCheck size={16} aria-label={t('Current')} />}
          </button>
        );
      })}
      <Link to={paths.newWorkspace()} className={classes.item}>
        {t('Create a workspace')}
      </Link>
    </>
  );
}

import { IconCheck } from '@tabler/icons-react';
import { Link } from 'react-router';
import { type CurrentUser, switchWorkspace } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import classes from './ProfileMenu.module.css';

/** One's workspaces with one's role in each; another one starts the app anew in it. */
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
              <span className={classes.client}>{relation.clientName}</span>
              <span className={classes.role}>{t(relation.roleName)}</span>
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

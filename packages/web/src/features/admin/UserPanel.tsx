import type { AdminUser, AdminUserView } from '@stagi/contract/adminUsers.ts';
import { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import { Link } from 'react-router';
import { providerTitle } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { LANGUAGE_NAME } from '../../i18n/locale.ts';
import { PLAN_WORDS } from '../../i18n/planWords.ts';
import { ROLE_NAMES } from '../../i18n/roleNames.ts';
import { RowPanel } from '../../lists/RowPanel.tsx';
import { paths } from '../../paths.ts';
import type { Action } from '../../ui/actions.tsx';
import { FactList } from '../../ui/FactList.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime, TimeAgo } from '../../ui/Time.tsx';
import classes from './Admin.module.css';
import { PanelHeader } from './PanelHeader.tsx';

interface Props {
  /** From the address; null: closed. */
  id: number | null;
  onClose(): void;
  actionsOf(user: AdminUser): Action[];
}

const WAYS: Record<string, string> = { password: text('Password'), passkey: text('Passkey') };

/** What an operator may know of somebody. */
export function UserPanel({ id, onClose, actionsOf }: Props) {
  const t = useT();
  return (
    <RowPanel view={api.adminUsers.view} id={id} onClose={onClose} title={t('User')} testId="user-panel">
      {({ entity }) => <Body user={entity} actions={entity.state === 'deleted' ? [] : actionsOf(entity)} />}
    </RowPanel>
  );
}

function Body({ user, actions }: { user: AdminUserView; actions: Action[] }) {
  const t = useT();
  return (
    <>
      <PanelHeader state={user.state} disabled={user.disabled} actions={actions} />
      <FactList facts={factsOf(user)} />
      <section>
        <h3 className={classes.title}>{t('Workspaces')}</h3>
        <ul className={classes.rows}>
          {user.workspaces.map((workspace) => (
            <li key={workspace.clientId}>
              <span className={classes.row}>
                <Link to={paths.adminWorkspace(workspace.clientId)}>{workspace.clientName}</Link>
                <span className={classes.small}>
                  {t(ROLE_NAMES[workspace.roleName])} · {t(PLAN_WORDS[workspace.subscriptionPlan])}
                  {workspace.running > 0 && ` · ${t('{{count}} servers running', { count: workspace.running })}`}
                </span>
              </span>
              <span>
                {workspace.isOnlyOwner && <Tag>{t('Only owner')}</Tag>}{' '}
                {workspace.isDisabled && <Tag>{t('Disabled')}</Tag>}
              </span>
            </li>
          ))}
        </ul>
        {user.workspaces.length === 0 && <p className={classes.small}>{t('No workspaces')}</p>}
        {user.workspaceCount > user.workspaces.length && (
          <p className={classes.small}>
            {t('{{count}} more', { count: user.workspaceCount - user.workspaces.length })}
          </p>
        )}
      </section>
    </>
  );

  function wayOf(id: string): string {
    const word = WAYS[id];
    return word ? t(word) : providerTitle(id);
  }

  function factsOf(one: AdminUserView) {
    return [
      { label: t('Name'), value: one.name },
      { label: t('Email'), value: one.email, copy: one.email },
      { label: t('Id'), value: one.id, mono: true, copy: String(one.id) },
      { label: t('Role'), value: one.isEmployee ? t('Operator') : t('Customer') },
      { label: t('Email confirmed'), value: one.isVerified ? t('Yes') : t('No') },
      { label: t('Login methods'), value: one.signedInBy.map(wayOf).join(', ') },
      { label: t('Second factor'), value: one.hasSecondFactor ? t('Yes') : t('No') },
      { label: t('Last login'), value: one.lastSignInAt && <DateTime at={one.lastSignInAt} /> },
      { label: t('Last seen'), value: one.lastSeenAt && <TimeAgo at={one.lastSeenAt} /> },
      { label: t('Sessions'), value: one.sessions },
      { label: t('API tokens'), value: one.apiTokens },
      { label: t('Language'), value: one.language && LANGUAGE_NAME[one.language] },
      { label: t('Signed up'), value: <DateTime at={one.createdAt} /> },
    ];
  }
}

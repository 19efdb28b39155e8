import type { AdminClient, AdminClientView } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import type { Quota } from '@stagi/contract/planLimits.ts';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { PLAN_WORDS } from '../../i18n/planWords.ts';
import { QUOTA_WORDS } from '../../i18n/quotaWords.ts';
import { ROLE_NAMES } from '../../i18n/roleNames.ts';
import { RowPanel } from '../../lists/RowPanel.tsx';
import { paths } from '../../paths.ts';
import type { Action } from '../../ui/actions.tsx';
import { FactList } from '../../ui/FactList.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Money } from '../../ui/Money.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { Tag } from '../../ui/Tag.tsx';
import { DateTime } from '../../ui/Time.tsx';
import classes from './Admin.module.css';
import { PanelHeader } from './PanelHeader.tsx';

interface Props {
  /** From the address; null: closed. */
  id: number | null;
  onClose(): void;
  actionsOf(workspace: AdminClient): Action[];
}

/** What an operator may know of a workspace. */
export function WorkspacePanel({ id, onClose, actionsOf }: Props) {
  const t = useT();
  return (
    <RowPanel view={api.adminClients.view} id={id} onClose={onClose} title={t('Workspace')} testId="workspace-panel">
      {({ entity }) => <Body workspace={entity} actions={entity.state === 'closed' ? [] : actionsOf(entity)} />}
    </RowPanel>
  );
}

function Body({ workspace, actions }: { workspace: AdminClientView; actions: Action[] }) {
  const t = useT();
  const own = (Object.keys(QUOTA_WORDS) as Quota[]).flatMap((quota) => {
    const limit = workspace.quotas[quota];
    if (limit === undefined) return [];
    return [
      <li key={quota}>
        {t(QUOTA_WORDS[quota])}: {limit === null ? t('no limit') : formatNumber(limit)}
      </li>,
    ];
  });
  return (
    <>
      <PanelHeader state={workspace.state} disabled={workspace.disabled} actions={actions} />
      <FactList
        facts={[
          { label: t('Name'), value: workspace.name },
          { label: t('Id'), value: workspace.id, mono: true, copy: String(workspace.id) },
          { label: t('Kind'), value: workspace.isPersonal ? t('Personal') : t('Shared') },
          { label: t('Plan'), value: t(PLAN_WORDS[workspace.subscriptionPlan]) },
          ...(own.length > 0 ? [{ label: t('Own quotas'), value: <ul className={classes.plain}>{own}</ul> }] : []),
          { label: t('Balance'), value: <Money price={workspace.balance} /> },
          { label: t('Current rate'), value: <Money price={workspace.spentPerHour} per="hour" /> },
          { label: t('Created'), value: <DateTime at={workspace.createdAt} /> },
        ]}
      />
      <People workspace={workspace} />
      <Machines workspace={workspace} />
      <Link to={paths.adminAudit(workspace.id)}>{t('View audit log')}</Link>
    </>
  );
}

function People({ workspace: { people, members } }: { workspace: AdminClientView }) {
  const t = useT();
  return (
    <section>
      <h3 className={classes.title}>{t('Members')}</h3>
      <ul className={classes.rows}>
        {people.map((one) => (
          <li key={one.userId}>
            <span className={classes.row}>
              <Link to={paths.adminUser(one.userId)}>{one.name}</Link>
              <span className={classes.small}>{one.email}</span>
            </span>
            <span>
              {t(ROLE_NAMES[one.roleName])} {one.isDisabled && <Tag>{t('Disabled')}</Tag>}
            </span>
          </li>
        ))}
      </ul>
      <More count={members - people.length} />
    </section>
  );
}

function Machines({ workspace: { machines, machineCount } }: { workspace: AdminClientView }) {
  const t = useT();
  return (
    <section>
      <h3 className={classes.title}>{t('Servers')}</h3>
      <ul className={classes.rows}>
        {machines.map((machine) => (
          <li key={machine.id}>
            <span className={classes.row}>
              <span>{machine.title}</span>
              <span className={classes.small}>
                {machine.slug} · {machine.kind === 'rented' ? machine.provider : t('Self-hosted')}
              </span>
            </span>
            <span className={classes.top}>
              <StatusBadge status={machine.status} />
              {machine.pricePerHour && <Money price={machine.pricePerHour} per="hour" />}
            </span>
          </li>
        ))}
      </ul>
      {machines.length === 0 && <p className={classes.small}>{t('No servers')}</p>}
      <More count={machineCount - machines.length} />
    </section>
  );
}

function More({ count }: { count: number }) {
  const t = useT();
  return count > 0 ? <p className={classes.small}>{t('{{count}} more', { count })}</p> : null;
}

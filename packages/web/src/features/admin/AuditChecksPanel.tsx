import { api } from '@stagi/contract/api.ts';
import type { AuditCheck } from '@stagi/contract/audit.ts';
import { IconShieldCheck } from '@tabler/icons-react';
import { Link } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { personName } from '../../i18n/personName.ts';
import { paths } from '../../paths.ts';
import { ActionButton } from '../../ui/actions.tsx';
import { RightPanel } from '../../ui/dialogs/RightPanel.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { FactList } from '../../ui/FactList.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Note } from '../../ui/Note.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { DateTime } from '../../ui/Time.tsx';
import classes from './Admin.module.css';
import { isRunning, type useAuditChecks } from './useAuditChecks.ts';

interface Props {
  checks: ReturnType<typeof useAuditChecks>;
  opened: boolean;
  onClose(): void;
}

/** The checks of all audit logs: the result of the last, the progress of the current, and a button for another. */
export function AuditChecksPanel({ checks, opened, onClose }: Props) {
  const t = useT();
  return (
    <RightPanel of={opened ? checks : null} onClose={onClose} title={t('All logs')} testId="audit-checks">
      {({ data, error, refetch, isFetching }) =>
        data ? (
          <Checks checks={data.entities} />
        ) : error ? (
          <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />
        ) : (
          <PanelSkeleton rows={6} />
        )
      }
    </RightPanel>
  );
}

function Checks({ checks }: { checks: readonly AuditCheck[] }) {
  const t = useT();
  const [last, ...before] = checks;
  const { run, loading } = useCall(api.audit.checkAll, { onDone: () => void invalidate(api.audit.listChecks.path) });
  return (
    <>
      <div className={classes.top}>
        {last ? <StatusBadge status={last.status} prominent /> : <span>{t('No checks yet')}</span>}
        <ActionButton
          icon={<IconShieldCheck size={16} />}
          testId="audit-check-all"
          loading={loading || (last !== undefined && isRunning(last))}
          onClick={() => void run({})}
        >
          {t('Check now')}
        </ActionButton>
      </div>
      <p className={classes.small}>
        {t('Every entry of every log is checked against its hash and the previous one: every night and on demand.')}
      </p>
      {last && <Last check={last} />}
      {before.length > 0 && (
        <section>
          <h3 className={classes.title}>{t('Previous checks')}</h3>
          <ul className={classes.rows}>
            {before.map((check) => (
              <li key={check.id}>
                <DateTime at={check.createdAt} />
                <StatusBadge status={check.status} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Last({ check }: { check: AuditCheck }) {
  const t = useT();
  const runs = isRunning(check);
  const share = (done: number, all: number) =>
    runs ? t('{{used}} of {{all}}', { used: formatNumber(done), all: formatNumber(all) }) : formatNumber(done);
  return (
    <>
      {runs && (
        <progress
          className={classes.progress}
          aria-label={t('Entries')}
          max={Math.max(1, check.entriesToDo)}
          value={check.entries}
        />
      )}
      {check.status === 'failed' && (
        <Note tone="warn">{t('The check timed out. Make sure that a worker of the platform is running.')}</Note>
      )}
      <Findings check={check} />
      <FactList
        facts={[
          {
            label: t('Requested by'),
            value: check.askedBy ? personName(t, check.askedBy.name) : t('Daily schedule'),
          },
          { label: t('Started at'), value: <DateTime at={check.createdAt} /> },
          runs
            ? { label: t('Times out'), value: <DateTime at={check.deadline} /> }
            : { label: t('Ended'), value: check.endedAt && <DateTime at={check.endedAt} /> },
          { label: t('Audit logs'), value: share(check.logs, check.logsToDo), mono: true },
          { label: t('Entries'), value: share(check.entries, check.entriesToDo), mono: true },
        ]}
      />
    </>
  );
}

function Findings({ check: { findings, brokenLogs } }: { check: AuditCheck }) {
  const t = useT();
  if (brokenLogs === 0) return null;
  return (
    <section data-testid="broken-logs">
      <Note tone="bad" title={t('{{count}} logs are broken', { count: brokenLogs })}>
        {t('Follow the runbook: change nothing, keep a copy of the database.')}
      </Note>
      <ul className={classes.rows}>
        {findings.map(({ workspace, entry }) => (
          <li key={workspace?.id ?? 0}>
            <Link to={paths.adminAudit(workspace?.id)}>{workspace?.name ?? t('Operator actions')}</Link>
            <span className="mono">{t('Entry {{entry}}', { entry })}</span>
          </li>
        ))}
      </ul>
      {brokenLogs > findings.length && (
        <p className={classes.small}>{t('{{count}} more', { count: brokenLogs - findings.length })}</p>
      )}
    </section>
  );
}

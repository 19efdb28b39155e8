import { api } from '@stagi/contract/api.ts';
import { IconHistory, IconStack2 } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import { invalidate } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { ActorPicker } from '../../layouts/ActorPicker.tsx';
import { useAuditList } from '../../layouts/useAuditList.ts';
import { useAuditVerify } from '../../layouts/useAuditVerify.ts';
import { useCsvExport } from '../../layouts/useCsvExport.ts';
import { useList } from '../../layouts/useList.ts';
import { usePanel } from '../../layouts/usePanel.ts';
import { paths } from '../../paths.ts';
import { AuditActions } from '../../ui/audit/AuditActions.tsx';
import { AuditFilters } from '../../ui/audit/AuditFilters.tsx';
import { isOutcome } from '../../ui/audit/auditWords.ts';
import { useAuditColumns } from '../../ui/audit/useAuditColumns.tsx';
import { Button } from '../../ui/Button.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { DateRangePicker } from '../../ui/dateRange/DateRangePicker.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { Note } from '../../ui/Note.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import classes from './Admin.module.css';
import { AuditChecksPanel } from './AuditChecksPanel.tsx';
import { useAuditChecks } from './useAuditChecks.ts';
import { WorkspacePicker } from './WorkspacePicker.tsx';

const WORKSPACE = 'workspace';
/** What belongs to one log alone, in the address. */
const OF_ONE_LOG = [WORKSPACE, 'page', 'who', 'area'];

/** What operators did, and what was done in any one workspace; exported, and held against its chain. */
export function AdminAuditPage() {
  const t = useT();
  const [params, setParams] = useSearchParams();
  const { list, range, who, narrowed, filters } = useAuditList();
  const { id: workspaceId } = usePanel(WORKSPACE);
  const { data, table } = useList(
    api.audit.listForOperators,
    { workspaceId, ...narrowed, entityFilterRequest: list.request },
    list,
  );
  const columns = useAuditColumns();
  const shown = { ...narrowed, workspaceId, outcomes: list.statuses.filter(isOutcome) };
  const name = `audit-${workspaceId ?? 'operators'}`;
  const exporting = useCsvExport(api.audit.exportForOperators, shown, name, readAgain);
  const verifying = useAuditVerify(api.audit.verifyForOperators, { workspaceId }, readAgain);
  const checks = useAuditChecks();
  const panel = usePanel('checks');
  const some = list.narrowed || (table.rows?.length ?? 0) > 0;

  function choose(id: number | null): void {
    const next = new URLSearchParams(params);
    for (const name of OF_ONE_LOG) next.delete(name);
    if (id !== null) next.set(WORKSPACE, String(id));
    setParams(next, { preventScrollReset: true });
  }

  return (
    <>
      <PageHeader
        title={t('Audit log')}
        actions={
          <>
            {some && <AuditActions verifying={verifying} exporting={exporting} />}
            <Button
              color="gray"
              icon={<IconStack2 size={16} />}
              component={Link}
              to={panel.to(1)}
              data-testid="open-audit-checks"
            >
              {t('All logs')}
            </Button>
          </>
        }
      >
        {t('What operators did or tried to do, or what was done in one workspace. Kept for 400 days.')}
      </PageHeader>
      <div className={classes.notes}>
        {checks.data?.lastIsWhole === false && (
          <Note
            tone="warn"
            title={t('An audit log is broken')}
            action={<Link to={panel.to(1)}>{t('See what was found')}</Link>}
          >
            {t('Follow the runbook: change nothing, keep a copy of the database.')}
          </Note>
        )}
        {workspaceId !== null && data?.workspace?.id === workspaceId && (
          <Note action={<Link to={paths.adminAudit()}>{t('Show what operators did')}</Link>}>
            {t('This is the log of the workspace')}{' '}
            <Link to={paths.adminWorkspace(workspaceId)}>{data.workspace.name}</Link>
          </Note>
        )}
      </div>
      <ListBar>
        <WorkspacePicker
          aria-label={t('Whose log')}
          placeholder={t('What operators did')}
          value={workspaceId}
          called={data?.workspace?.id === workspaceId ? data?.workspace?.name : undefined}
          onChange={choose}
          clearable
          w={{ base: '100%', sm: 260 }}
          data-testid="audit-workspace"
        />
        {some && (
          <>
            <AuditFilters
              log={data}
              finder={<ActorPicker operators={{ workspaceId }} {...who} chosen={data?.actors} />}
              {...filters}
            />
            <DateRangePicker label={t('When')} value={range.value} onChange={range.set} clearable />
          </>
        )}
      </ListBar>
      <DataTable
        {...table}
        label={t('Audit log')}
        name="admin-audit"
        rowTestId="audit-row"
        columns={columns}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('Nothing like that has happened')} onClear={list.clear}>
              {t('Try a longer stretch of time or other filters.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconHistory size={20} />} title={t('Nothing has happened yet')}>
              {t('Acts are listed here as they happen, with who did them and from where.')}
            </EmptyState>
          )
        }
      />
      <AuditChecksPanel checks={checks} opened={panel.id !== null} onClose={panel.close} />
    </>
  );
}

/** What operators look at closely is an act too, and stands in the log. */
function readAgain(): void {
  void invalidate(api.audit.listForOperators.path);
}

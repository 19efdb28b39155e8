import { api } from '@stagi/contract/api.ts';
import { IconHistory } from '@tabler/icons-react';
import { useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ActorPicker } from '../../layouts/ActorPicker.tsx';
import { useAuditList } from '../../layouts/useAuditList.ts';
import { useAuditVerify } from '../../layouts/useAuditVerify.ts';
import { useCsvExport } from '../../layouts/useCsvExport.ts';
import { useList } from '../../layouts/useList.ts';
import { AuditActions } from '../../ui/audit/AuditActions.tsx';
import { AuditFilters } from '../../ui/audit/AuditFilters.tsx';
import { isOutcome } from '../../ui/audit/auditWords.ts';
import { useAuditColumns } from '../../ui/audit/useAuditColumns.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { DateRangePicker } from '../../ui/dateRange/DateRangePicker.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { TeamTabs } from './TeamTabs.tsx';

/** What was done in the workspace, by whom and from where; narrowed, exported, and held against its own chain. */
export function AuditPage() {
  const t = useT();
  const { list, range, who, narrowed, filters } = useAuditList();
  const { data, table } = useList(api.audit.list, { ...narrowed, entityFilterRequest: list.request }, list);
  const columns = useAuditColumns();
  const { workspace } = useUser();
  const shown = { ...narrowed, outcomes: list.statuses.filter(isOutcome) };
  const exporting = useCsvExport(api.audit.export, shown, `audit-${workspace?.clientId ?? ''}`);
  const verifying = useAuditVerify(api.audit.verify, {});
  const some = list.narrowed || (table.rows?.length ?? 0) > 0;

  return (
    <>
      <PageHeader title={t('Audit log')} actions={some && <AuditActions verifying={verifying} exporting={exporting} />}>
        {t(
          'Everything that members and their API tokens did or tried to do here, kept for 400 days. Entries are chained: none can be changed or left out without showing.',
        )}
      </PageHeader>
      <TeamTabs />
      {some && (
        <ListBar>
          <AuditFilters log={data} finder={<ActorPicker {...who} chosen={data?.actors} />} {...filters} />
          <DateRangePicker label={t('When')} value={range.value} onChange={range.set} clearable />
        </ListBar>
      )}
      <DataTable
        {...table}
        label={t('Audit log')}
        name="audit"
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
              {t('Whatever members do in this workspace will be listed here, with who did it and from where.')}
            </EmptyState>
          )
        }
      />
    </>
  );
}

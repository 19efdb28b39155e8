import { api } from '@stagi/contract/api.ts';
import { IconHistory } from '@tabler/icons-react';
import { useUser } from '../../api/user.ts';
import { AuditActions } from '../../audit/AuditActions.tsx';
import { AuditFilters } from '../../audit/AuditFilters.tsx';
import { type ThingPages, useAuditColumns } from '../../audit/useAuditColumns.tsx';
import { useAuditList } from '../../audit/useAuditList.ts';
import { useAuditVerify } from '../../audit/useAuditVerify.ts';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useCsvExport } from '../../lists/useCsvExport.ts';
import { useList } from '../../lists/useList.ts';
import { paths } from '../../paths.ts';
import { TeamTabs } from './TeamTabs.tsx';

/** Also of what is terminated or deleted. */
const PAGES: ThingPages = {
  'instance-rented': (id) => paths.instance(id),
  'self-hosted-instance': (id) => paths.selfInstance(id),
  'docker-container': (id) => paths.container(id),
};

/** The audit log of the workspace: filters, CSV export, and the check of its hash chain. */
export function AuditPage() {
  const t = useT();
  const { workspace } = useUser();
  const audit = useAuditList();
  const list = useList(api.audit.list, audit.listInput, audit.state);
  const columns = useAuditColumns(PAGES);
  const exporting = useCsvExport(api.audit.export, audit.exportInput, `audit-${workspace?.clientId ?? ''}`);
  const verifying = useAuditVerify(api.audit.verify, {});

  return (
    <ListPage
      title={t('Audit log')}
      about={t(
        'Everything members and their API tokens did or tried to do here, kept for 400 days. Entries are chained, so any change or removal shows.',
      )}
      headerActions={!list.isEmpty && <AuditActions verifying={verifying} exporting={exporting} />}
      above={<TeamTabs />}
      list={list}
      filters={<AuditFilters audit={audit} log={list.data} />}
      name="audit"
      rowTestId="audit-row"
      columns={columns}
      rowKey={({ id }) => id}
      noMatches={{
        title: t('No matching entries'),
        text: t('Try a longer time range or other filters.'),
      }}
      empty={{
        icon: <IconHistory size={20} />,
        title: t('No activity yet'),
        text: t('Members’ actions will appear here, with who took them and from where.'),
      }}
    />
  );
}

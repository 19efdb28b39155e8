import { api } from '@stagi/contract/api.ts';
import { IconHistory, IconStack2 } from '@tabler/icons-react';
import { Suspense } from 'react';
import { Link } from 'react-router';
import { invalidate } from '../../api/query.ts';
import { AuditActions } from '../../audit/AuditActions.tsx';
import { AuditFilters } from '../../audit/AuditFilters.tsx';
import { type ThingPages, useAuditColumns } from '../../audit/useAuditColumns.tsx';
import { useAuditList } from '../../audit/useAuditList.ts';
import { useAuditVerify } from '../../audit/useAuditVerify.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useCsvExport } from '../../lists/useCsvExport.ts';
import { useList } from '../../lists/useList.ts';
import { usePanel } from '../../lists/usePanel.ts';
import { useAddressParams } from '../../navigation/useAddressParams.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { Note } from '../../ui/Note.tsx';
import classes from './Admin.module.css';
import { useAuditChecks } from './useAuditChecks.ts';

const AuditChecksPanel = lazyComponent(async () => (await import('./AuditChecksPanel.tsx')).AuditChecksPanel);

const WorkspacePicker = lazyComponent(async () => (await import('./WorkspacePicker.tsx')).WorkspacePicker);

const WORKSPACE = 'workspace';
/** What belongs to one log alone, in the address. */
const OF_ONE_LOG = [WORKSPACE, 'page', 'who', 'area'];

/** An operator is no member of the workspace whose log it may be, and could not open its servers. */
const PAGES: ThingPages = {
  'admin/user': paths.adminUser,
  'client/member': paths.adminUser,
  'admin/client': paths.adminWorkspace,
  'admin/contact': paths.adminContact,
  client: paths.adminWorkspace,
};

/** The audit log of operators or of one workspace: filters, CSV export, and the check of its hash chain. */
export function AdminAuditPage() {
  const t = useT();
  const [, changeParams] = useAddressParams();
  const audit = useAuditList();
  const { id: workspaceId } = usePanel(WORKSPACE);
  const list = useList(api.audit.listForOperators, { workspaceId, ...audit.listInput }, audit.state);
  const { data } = list;
  const columns = useAuditColumns(PAGES);
  const name = `audit-${workspaceId ?? 'operators'}`;
  const exporting = useCsvExport(api.audit.exportForOperators, { workspaceId, ...audit.exportInput }, name, readAgain);
  const verifying = useAuditVerify(api.audit.verifyForOperators, { workspaceId }, readAgain);
  const checks = useAuditChecks();
  const panel = usePanel('checks');

  function choose(id: number | null): void {
    changeParams((next) => {
      for (const name of OF_ONE_LOG) next.delete(name);
      if (id !== null) next.set(WORKSPACE, String(id));
    });
  }

  return (
    <ListPage
      title={t('Audit log')}
      about={t('What operators did or tried to do, or the actions in one workspace. Kept for 400 days.')}
      headerActions={
        <>
          {!list.isEmpty && <AuditActions verifying={verifying} exporting={exporting} />}
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
      above={
        <div className={classes.notes}>
          {checks.data?.lastIsWhole === false && (
            <Note
              tone="warn"
              title={t('An audit log is broken')}
              action={<Link to={panel.to(1)}>{t('View details')}</Link>}
            >
              {t('Follow the runbook: change nothing, keep a copy of the database.')}
            </Note>
          )}
          {workspaceId !== null && data?.workspace?.id === workspaceId && (
            <Note action={<Link to={paths.adminAudit()}>{t('Show operator actions')}</Link>}>
              {t('This is the log of the workspace')}{' '}
              <Link to={paths.adminWorkspace(workspaceId)}>{data.workspace.name}</Link>
            </Note>
          )}
        </div>
      }
      list={list}
      barStart={
        <Suspense fallback={<div className={classes.picker} aria-busy="true" />}>
          <WorkspacePicker
            aria-label={t('Choose a log')}
            placeholder={t('Operator actions')}
            value={workspaceId}
            called={data?.workspace?.id === workspaceId ? data?.workspace?.name : undefined}
            onChange={choose}
            mayBeEmpty
            w={{ base: '100%', sm: 260 }}
            data-testid="audit-workspace"
          />
        </Suspense>
      }
      filters={<AuditFilters audit={audit} log={data} operators={{ workspaceId }} />}
      name="admin-audit"
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
        text: t('Actions appear here as they happen, with who took them and from where.'),
      }}
    >
      {panel.id !== null && (
        <Suspense>
          <AuditChecksPanel checks={checks} opened={panel.id !== null} onClose={panel.close} />
        </Suspense>
      )}
    </ListPage>
  );
}

/** Exports and checks by operators are audit entries themselves. */
function readAgain(): void {
  void invalidate(api.audit.listForOperators.path);
}

import { api } from '@stagi/contract/api.ts';
import { IconHistory } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { useAuditList } from '../../layouts/useAuditList.ts';
import { useList } from '../../layouts/useList.ts';
import { usePanel } from '../../layouts/usePanel.ts';
import { paths } from '../../paths.ts';
import { AuditFilters } from '../../ui/audit/AuditFilters.tsx';
import { useAuditColumns } from '../../ui/audit/useAuditColumns.tsx';
import { Button } from '../../ui/Button.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { DateRangePicker } from '../../ui/dateRange/DateRangePicker.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { Note } from '../../ui/Note.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import classes from './Audit.module.css';

/** What operators did, and what was done in any one workspace. */
export function AdminAuditPage() {
  const t = useT();
  const { list, range, narrowed, filters } = useAuditList();
  const { id: workspaceId } = usePanel('workspace');
  const { data, table } = useList(
    api.audit.listForOperators,
    { workspaceId, ...narrowed, entityFilterRequest: list.request },
    list,
  );
  const columns = useAuditColumns();
  const some = list.narrowed || (table.rows?.length ?? 0) > 0;

  return (
    <>
      <PageHeader title={t('Audit log')} actions={<Choice key={workspaceId} workspaceId={workspaceId} />}>
        {t('What operators did or tried to do, or what was done in one workspace. Kept for 400 days.')}
      </PageHeader>
      {workspaceId !== null && data?.workspace && (
        <Note action={<Link to={paths.adminAudit()}>{t('Show what operators did')}</Link>}>
          {t('This is the log of the workspace')}{' '}
          <Link to={paths.adminWorkspace(workspaceId)}>{data.workspace.name}</Link>
        </Note>
      )}
      {some && (
        <ListBar>
          <AuditFilters log={data} {...filters} />
          <DateRangePicker label={t('When')} value={range.value} onChange={range.set} clearable />
        </ListBar>
      )}
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
    </>
  );
}

/** Which log: that of the workspace with this id. */
function Choice({ workspaceId }: { workspaceId: number | null }) {
  const t = useT();
  const { to } = usePanel('workspace');
  const [typed, setTyped] = useState(workspaceId === null ? '' : String(workspaceId));
  const id = /^[1-9]\d{0,14}$/.test(typed.trim()) ? Number(typed) : null;
  return (
    <Form className={classes.choice} onSubmit={(event) => event.preventDefault()}>
      <TextInput
        aria-label={t('Id of a workspace')}
        placeholder={t('Id of a workspace')}
        inputMode="numeric"
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-testid="audit-workspace"
      />
      {id === null ? (
        <Button color="gray" disabled>
          {t('Show')}
        </Button>
      ) : (
        <Button color="gray" component={Link} to={to(id)} data-testid="audit-show">
          {t('Show')}
        </Button>
      )}
    </Form>
  );
}

import { api } from '@stagi/contract/api.ts';
import type { LedgerRun } from '@stagi/contract/ledger.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconScale, IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { invalidate, q } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { usePanel } from '../../layouts/usePanel.ts';
import { Button } from '../../ui/Button.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { StatusFilter } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { Note } from '../../ui/Note.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import classes from './Admin.module.css';
import { LedgerRunPanel } from './LedgerRunPanel.tsx';
import { LedgerSeals } from './LedgerSeals.tsx';
import { useLedgerColumns } from './useLedgerColumns.tsx';

const STATES: readonly LedgerRun['state'][] = ['sound', 'unsound', 'running', 'waiting', 'failed'];
/** While a run goes on its progress is read so often; else a run of others is seen within a minute. */
const SOON_MS = 2_000;
const LATER_MS = 60_000;

const goesOn = ({ state }: LedgerRun): boolean => state === 'waiting' || state === 'running';

/** Whether the books agree with themselves: each verification with its result, and the seals of the days. */
export function LedgerPage() {
  const t = useT();
  const list = useListState();
  const input = { entityFilterRequest: list.request };
  const { data, table } = useList(api.ledger.list, input, list, LATER_MS);
  // A second reader of the same answer, which is in a hurry while something goes on.
  useQuery({ ...q(api.ledger.list, input), refetchInterval: data?.entities.some(goesOn) ? SOON_MS : false });
  const columns = useLedgerColumns();
  const panel = usePanel('run');
  const { run, loading } = useCall(api.ledger.verify, { onDone: () => void invalidate('admin/ledger/') });
  const verify = (
    <Button
      icon={<IconShieldCheck size={16} />}
      loading={loading}
      onClick={() => void run({})}
      data-testid="ledger-verify"
    >
      {t('Verify the ledger')}
    </Button>
  );
  const some = list.narrowed || (table.rows?.length ?? 0) > 0;
  return (
    <>
      <PageHeader title={t(ROUTES.adminLedger.title)} actions={some && verify}>
        {t('Every journal, balance, hold and seal held against each other: once a day, and whenever you ask.')}
      </PageHeader>
      <div className={classes.notes}>
        {data?.lastIsSound === false && (
          <Note tone="warn" title={t('The ledger does not add up')}>
            {t('Open the run that says so, and follow the runbook: change nothing, keep a copy of the database.')}
          </Note>
        )}
      </div>
      {some && (
        <ListBar>
          <StatusFilter statuses={STATES} value={list.statuses} onChange={list.setStatuses} />
        </ListBar>
      )}
      <DataTable
        {...table}
        label={t('Verifications')}
        rowTestId="ledger-row"
        columns={columns}
        rowKey={({ id }) => id}
        rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No verification matches')} onClear={list.clear} />
          ) : (
            <EmptyState icon={<IconScale size={20} />} title={t('Nothing has been verified yet')} action={verify}>
              {t('The first verification comes tonight by itself.')}
            </EmptyState>
          )
        }
      />
      {data && data.seals.length > 0 && <LedgerSeals seals={data.seals} />}
      <LedgerRunPanel run={data?.entities.find(({ id }) => id === panel.id) ?? null} onClose={panel.close} />
    </>
  );
}

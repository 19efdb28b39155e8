import { api } from '@stagi/contract/api.ts';
import type { LedgerRun } from '@stagi/contract/ledger.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconScale, IconShieldCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { invalidate, q } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { usePanel } from '../../lists/usePanel.ts';
import { Button } from '../../ui/Button.tsx';
import { Note } from '../../ui/Note.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import classes from './Admin.module.css';
import { LedgerRunPanel } from './LedgerRunPanel.tsx';
import { LedgerSeals } from './LedgerSeals.tsx';
import { useLedgerColumns } from './useLedgerColumns.tsx';

const STATES: readonly LedgerRun['state'][] = ['sound', 'unsound', 'running', 'waiting', 'failed'];
/** Progress is polled while a run is active; a run that somebody else started shows within a minute. */
const REFETCH_WHILE_RUNNING_MS = 2_000;
const REFETCH_MS = 60_000;

const isRunning = ({ state }: LedgerRun): boolean => state === 'waiting' || state === 'running';

/** The verifications of the ledger with their results, and the seals of the last days. */
export function LedgerPage() {
  const t = useT();
  const state = useListState();
  const input = { entityFilterRequest: state.request };
  const list = useList(api.ledger.list, input, state, REFETCH_MS);
  const { data } = list;
  // A second subscriber to the same query, which polls faster while a run is active.
  useQuery({
    ...q(api.ledger.list, input),
    refetchInterval: data?.entities.some(isRunning) ? REFETCH_WHILE_RUNNING_MS : false,
  });
  const columns = useLedgerColumns();
  const panel = usePanel('run');
  const { run, loading } = useCall(api.ledger.verify, { onDone: () => void invalidate('admin/ledger/') });
  return (
    <ListPage
      title={t(ROUTES.adminLedger.title)}
      about={t('Journals, balances, holds and seals are checked against each other: every day and on demand.')}
      create={
        <Button
          icon={<IconShieldCheck size={16} />}
          loading={loading}
          onClick={() => void run({})}
          data-testid="ledger-verify"
        >
          {t('Verify the ledger')}
        </Button>
      }
      above={
        <div className={classes.notes}>
          {data?.lastIsSound === false && (
            <Note tone="warn" title={t('The ledger is inconsistent')}>
              {t('Open the failed verification and follow the runbook: change nothing, keep a copy of the database.')}
            </Note>
          )}
        </div>
      }
      list={list}
      filters={<StatusFilter statuses={STATES} value={state.statuses} onChange={state.setStatuses} />}
      label={t('Verifications')}
      rowTestId="ledger-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
      noMatches={{ title: t('No verification matches') }}
      empty={{
        icon: <IconScale size={20} />,
        title: t('No verifications yet'),
        text: t('The first verification runs automatically tonight.'),
      }}
    >
      {data && data.seals.length > 0 && <LedgerSeals seals={data.seals} />}
      <LedgerRunPanel run={data?.entities.find(({ id }) => id === panel.id) ?? null} onClose={panel.close} />
    </ListPage>
  );
}

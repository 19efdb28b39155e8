import { api } from '@stagi/contract/api.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconReceipt } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { usePanel } from '../../layouts/usePanel.ts';
import { useRange } from '../../layouts/useRange.ts';
import { DataTable } from '../../ui/DataTable.tsx';
import { DateRangePicker } from '../../ui/dateRange/DateRangePicker.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { FilterMenu } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { BalanceFacts } from './BalanceFacts.tsx';
import classes from './Billing.module.css';
import { FILTERS, TYPE, TYPES, transactionsInput, typesOf } from './listInput.ts';
import { PromoCodeForm } from './PromoCodeForm.tsx';
import { TransactionPanel } from './TransactionPanel.tsx';
import { TYPE_WORD } from './transactionWords.ts';
import { useTransactionColumns } from './useTransactionColumns.tsx';

/** Use is charged each minute. */
const REFETCH_MS = 60_000;

/** What the workspace has, and everything that came to it and went. */
export function BalancePage() {
  const t = useT();
  const list = useListState({ filters: FILTERS });
  const range = useRange(list);
  const { table } = useList(api.transactions.list, { ...transactionsInput(list), ...range.bounds }, list, REFETCH_MS);
  const columns = useTransactionColumns();
  const panel = usePanel('transaction');
  const some = list.narrowed || (table.rows?.length ?? 1) > 0;
  return (
    <>
      <PageHeader title={t(ROUTES.balance.title)} />
      <div className={classes.top}>
        <BalanceFacts />
        <PromoCodeForm />
      </div>
      <h2 className={classes.listTitle}>{t('Transactions')}</h2>
      {some && (
        <ListBar>
          <FilterMenu
            label={t('Type')}
            options={TYPES.map((type) => ({ value: type, label: t(TYPE_WORD[type]) }))}
            value={typesOf(list)}
            onChange={(types) => list.setValues(TYPE, types)}
          />
          <DateRangePicker label={t('When')} value={range.value} onChange={range.set} clearable />
        </ListBar>
      )}
      <DataTable
        {...table}
        label={t('Transactions')}
        name="transactions"
        rowTestId="transaction-row"
        columns={columns}
        rowKey={({ id }) => id}
        rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No transaction matches')} onClear={list.clear}>
              {t('Try a longer stretch of time or other filters.')}
            </NoMatches>
          ) : (
            <EmptyState icon={<IconReceipt size={20} />} title={t('Nothing has come or gone yet')}>
              {t('What is added to the balance and what servers use of it will be listed here.')}
            </EmptyState>
          )
        }
      />
      <TransactionPanel id={panel.id} onClose={panel.close} />
    </>
  );
}

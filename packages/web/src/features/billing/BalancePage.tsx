import { api } from '@stagi/contract/api.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconReceipt } from '@tabler/icons-react';
import { Link } from 'react-router';
import { NotPermitted } from '../../access/NotPermitted.tsx';
import { useHasPermission, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { ListTable } from '../../lists/ListTable.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { usePanel } from '../../lists/usePanel.ts';
import { useRange } from '../../lists/useRange.ts';
import { DateRangePicker } from '../../ui/dateRange/DateRangePicker.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { FilterMenu } from '../../ui/table/FilterMenu.tsx';
import { BalanceFacts } from './BalanceFacts.tsx';
import classes from './Billing.module.css';
import { FILTERS, TYPE_FILTER, TYPES, transactionsInput, typesOf } from './listInput.ts';
import { PromoCodeForm } from './PromoCodeForm.tsx';
import { TransactionPanel } from './TransactionPanel.tsx';
import { TYPE_WORD } from './transactionWords.ts';
import { useTransactionColumns } from './useTransactionColumns.tsx';

/** Use is charged each minute. */
const REFETCH_MS = 60_000;

const BILLING = ['BILLING'] as const;

/** The balance of the workspace, for every member; its transactions need a permission. */
export function BalancePage() {
  const t = useT();
  const { workspace } = useUser();
  const mayBill = useHasPermission(...BILLING);
  return (
    <>
      <PageHeader title={t(ROUTES.balance.title)} />
      {workspace && (
        <div className={classes.top}>
          <BalanceFacts />
          {mayBill && <PromoCodeForm />}
        </div>
      )}
      {mayBill ? <Transactions /> : <NotPermitted name={t('Transaction history')} permissions={BILLING} />}
    </>
  );
}

function Transactions() {
  const t = useT();
  const state = useListState({ filters: FILTERS });
  const range = useRange(state);
  const input = { ...transactionsInput(state), ...range.bounds };
  const list = useList(api.transactions.list, input, state, REFETCH_MS);
  const columns = useTransactionColumns();
  const panel = usePanel('transaction');
  return (
    <>
      <h2 className={classes.listTitle}>{t('Transactions')}</h2>
      <ListTable
        list={list}
        filters={
          <>
            <FilterMenu
              label={t('Type')}
              options={TYPES.map((type) => ({ value: type, label: t(TYPE_WORD[type]) }))}
              value={typesOf(state)}
              onChange={(types) => state.setValues(TYPE_FILTER, types)}
            />
            <DateRangePicker label={t('When')} value={range.value} onChange={range.set} clearable />
          </>
        }
        label={t('Transactions')}
        name="transactions"
        rowTestId="transaction-row"
        columns={columns}
        rowKey={({ id }) => id}
        rowLink={({ id }, cell) => <Link to={panel.to(id)}>{cell}</Link>}
        noMatches={{
          title: t('No transaction matches'),
          text: t('Try a longer time range or other filters.'),
        }}
        empty={{
          icon: <IconReceipt size={20} />,
          title: t('No transactions yet'),
          text: t('Deposits and charges will be listed here.'),
        }}
      />
      <TransactionPanel id={panel.id} onClose={panel.close} />
    </>
  );
}

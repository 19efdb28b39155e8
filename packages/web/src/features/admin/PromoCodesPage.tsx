import { api } from '@stagi/contract/api.ts';
import { PROMO_STATUSES, type PromoCode } from '@stagi/contract/promoCodes.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconPlayerStop, IconPlus, IconTicket } from '@tabler/icons-react';
import { useState } from 'react';
import { invalidate } from '../../api/query.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import { useList } from '../../layouts/useList.ts';
import { useListState } from '../../layouts/useListState.ts';
import { ActionMenu, type Verdict } from '../../ui/actions.tsx';
import { Button } from '../../ui/Button.tsx';
import { DataTable } from '../../ui/DataTable.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { StatusFilter } from '../../ui/FilterMenu.tsx';
import { ListBar } from '../../ui/ListBar.tsx';
import { NoMatches } from '../../ui/NoMatches.tsx';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { toast } from '../../ui/toasts.ts';
import { NewPromoCode } from './NewPromoCode.tsx';
import { usePromoCodeColumns } from './usePromoCodeColumns.tsx';

const ENDED = text('This promo code has ended already');

/** Every promo code, for operators: made, watched, ended. */
export function PromoCodesPage() {
  const t = useT();
  const list = useListState();
  const { table } = useList(api.promoCodes.list, { entityFilterRequest: list.request }, list);
  const columns = usePromoCodeColumns();
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<PromoCode | null>(null);
  const some = list.narrowed || (table.rows?.length ?? 0) > 0;
  const create = (
    <Button icon={<IconPlus size={16} />} onClick={() => setMaking(true)} data-testid="promo-create">
      {t('Create a promo code')}
    </Button>
  );

  const verdictOf = ({ status }: PromoCode): Verdict =>
    status === 'open' ? { allowed: true } : { allowed: false, reason: ENDED };

  return (
    <>
      <PageHeader title={t(ROUTES.adminPromoCodes.title)} actions={some && create}>
        {t('An amount that people add to the balance of a workspace, once each.')}
      </PageHeader>
      {some && (
        <ListBar>
          <SearchBox value={list.search} onChange={list.setSearch} placeholder={t('Code or note')} />
          <StatusFilter statuses={PROMO_STATUSES} value={list.statuses} onChange={list.setStatuses} />
        </ListBar>
      )}
      <DataTable
        {...table}
        label={t(ROUTES.adminPromoCodes.title)}
        name="promo-codes"
        rowTestId="promo-row"
        columns={columns}
        rowKey={({ id }) => id}
        rowActions={(promo) => (
          <ActionMenu
            label={t('Actions for {{title}}', { title: promo.code })}
            actions={() => [
              {
                label: t('Revoke'),
                icon: <IconPlayerStop size={16} />,
                danger: true,
                verdict: verdictOf(promo),
                testId: 'action-revoke',
                onClick: () => setRevoking(promo),
              },
            ]}
          />
        )}
        sort={list.sort}
        onSort={list.setSort}
        empty={
          list.narrowed ? (
            <NoMatches title={t('No promo code matches')} onClear={list.clear} />
          ) : (
            <EmptyState icon={<IconTicket size={20} />} title={t('No promo codes yet')} action={create}>
              {t('Whoever gets one adds its amount to their balance under Transactions & Plans.')}
            </EmptyState>
          )
        }
      />
      <NewPromoCode opened={making} onClose={() => setMaking(false)} />
      <Revoke promo={revoking} onClose={() => setRevoking(null)} />
    </>
  );
}

function Revoke({ promo, onClose }: { promo: PromoCode | null; onClose(): void }) {
  const t = useT();
  const { run, loading } = useCall(api.promoCodes.revoke, {
    onDone: ({ entity }) => {
      void invalidate('admin/promo-code/');
      toast.success(t('{{code}} has been revoked', { code: entity.code }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      opened={promo !== null}
      onClose={onClose}
      onConfirm={() => promo && void run({ id: promo.id })}
      title={t('Revoke {{code}}?', { code: promo?.code ?? '' })}
      confirmLabel={t('Revoke')}
      variant="error"
      loading={loading}
    >
      {t('Nobody can activate it any more. What it has given stays given.')}
    </ConfirmDialog>
  );
}

import { api } from '@stagi/contract/api.ts';
import { PROMO_STATUSES, type PromoCode } from '@stagi/contract/promoCodes.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { text } from '@stagi/contract/text.ts';
import { IconPlayerStop, IconPlus, IconTicket } from '@tabler/icons-react';
import { Suspense, useState } from 'react';
import { call } from '../../api/client.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { ListPage } from '../../lists/ListPage.tsx';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { useRowActions } from '../../lists/useRowActions.tsx';
import { Button } from '../../ui/Button.tsx';
import { StatusFilter } from '../../ui/table/StatusFilter.tsx';
import { usePromoCodeColumns } from './usePromoCodeColumns.tsx';

const NewPromoCode = lazyComponent(async () => (await import('./NewPromoCode.tsx')).NewPromoCode);

const ENDED = text('This promo code has already ended');

/** All promo codes, for operators: create, view, revoke. */
export function PromoCodesPage() {
  const t = useT();
  const state = useListState();
  const list = useList(api.promoCodes.list, { entityFilterRequest: state.request }, state);
  const columns = usePromoCodeColumns();
  const actions = usePromoCodeActions();
  const [dialog, setDialog] = useState<'unused' | 'open' | 'closed'>('unused');

  return (
    <ListPage
      title={t(ROUTES.adminPromoCodes.title)}
      about={t('Codes that add an amount to a workspace’s balance, once per person.')}
      create={
        <Button
          icon={<IconPlus size={16} />}
          aria-haspopup="dialog"
          onClick={() => setDialog('open')}
          data-testid="promo-create"
        >
          {t('Create a promo code')}
        </Button>
      }
      list={list}
      search={t('Code or note')}
      filters={<StatusFilter statuses={PROMO_STATUSES} value={state.statuses} onChange={state.setStatuses} />}
      name="promo-codes"
      rowTestId="promo-row"
      columns={columns}
      rowKey={({ id }) => id}
      rowName={({ code }) => code}
      actions={actions}
      noMatches={{ title: t('No promo code matches') }}
      empty={{
        icon: <IconTicket size={20} />,
        title: t('No promo codes yet'),
        text: t('People use them under Transactions & Plans to add the amount to their balance.'),
      }}
    >
      {dialog !== 'unused' && (
        <Suspense>
          <NewPromoCode opened={dialog === 'open'} onClose={() => setDialog('closed')} />
        </Suspense>
      )}
    </ListPage>
  );
}

function usePromoCodeActions() {
  const t = useT();
  return useRowActions<PromoCode>(
    [
      {
        name: 'revoke',
        label: t('Revoke'),
        icon: IconPlayerStop,
        danger: true,
        can: ({ status }) => (status === 'open' ? { allowed: true } : { allowed: false, reason: ENDED }),
        perform: ({ id }, options) => call(api.promoCodes.revoke, { id }, options),
        confirm: ({ code }) => ({
          title: t('Revoke {{code}}?', { code }),
          text: t('Nobody can activate it any more. Amounts already added stay.'),
        }),
        success: ({ code }) => t('{{code}} has been revoked', { code }),
      },
    ],
    ['admin/promo-code/'],
  );
}

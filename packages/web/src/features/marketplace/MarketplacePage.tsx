import { api } from '@stagi/contract/api.ts';
import type { SshKeyDialogSlot } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { useList } from '../../lists/useList.ts';
import { useListState } from '../../lists/useListState.ts';
import { useAddressParams } from '../../navigation/useAddressParams.ts';
import { PageHeader } from '../../ui/PageHeader.tsx';
import { ListBar } from '../../ui/table/ListBar.tsx';
import { OfferFilters } from './OfferFilters.tsx';
import { OfferTable } from './OfferTable.tsx';
import { CHEAPEST, OFFER_FILTERS, offersInput } from './offersInput.ts';
import { ProviderStates } from './ProviderStates.tsx';
import { RentDrawer } from './RentDrawer.tsx';

const REFETCH_MS = 30_000;

export function MarketplacePage({ SshKeyDialog }: { SshKeyDialog: SshKeyDialogSlot }) {
  const t = useT();
  const list = useListState({ sort: CHEAPEST, filters: OFFER_FILTERS });
  const offers = useList(api.hardware.offers, offersInput(list), list, REFETCH_MS);
  const [params, changeParams] = useAddressParams();
  const chosen = params.get('offer');

  function close(): void {
    changeParams((next) => next.delete('offer'), { replace: true });
  }

  return (
    <>
      <PageHeader title={t('Hardware marketplace')}>
        {t('Servers that you can rent now, billed while they run. Ready in about 2 minutes.')}
      </PageHeader>
      <ProviderStates providers={offers.data?.providers ?? []} />
      <ListBar>
        <OfferFilters list={list} providers={offers.data?.providers ?? []} />
      </ListBar>
      <OfferTable offers={offers} />
      <RentDrawer offerId={chosen} known={offers.table.rows} onClose={close} SshKeyDialog={SshKeyDialog} />
    </>
  );
}

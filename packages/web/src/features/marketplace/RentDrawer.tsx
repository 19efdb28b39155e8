import { api } from '@stagi/contract/api.ts';
import type { Offer, ProviderState } from '@stagi/contract/hardware.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import type { SshKeyDialogSlot } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { RentForm } from './RentForm.tsx';

interface Props {
  /** From the address; null: closed. */
  offerId: string | null;
  /** The offers on screen. */
  known: readonly Offer[] | undefined;
  onClose(): void;
  SshKeyDialog: SshKeyDialogSlot;
}

export function RentDrawer({ offerId, known, onClose, SshKeyDialog }: Props) {
  const t = useT();
  const { offer, error, loading, notKnown, retry } = useOffer(offerId, known);

  return (
    <Dialog opened={offerId !== null} onClose={onClose} routed placement="right" title={t('Rent a server')}>
      {offer ? (
        <RentForm key={offer.offerId} offer={offer} SshKeyDialog={SshKeyDialog} />
      ) : loading ? (
        <PanelSkeleton rows={6} />
      ) : error ? (
        <ErrorState message={errorText(error)} onRetry={retry} />
      ) : notKnown ? (
        <ErrorState
          message={t('The offers of this provider are not known at the moment. Try again in a moment.')}
          onRetry={retry}
        />
      ) : (
        <EmptyState title={t('This offer is no longer available')}>
          {t('Somebody else has rented it, or it was withdrawn. Close this and choose another.')}
        </EmptyState>
      )}
    </Dialog>
  );
}

/**
 * The offer in the address: from the list on screen, else fetched. Kept while its form is open, even when it sells
 * out, and while the drawer closes.
 */
function useOffer(offerId: string | null, known: readonly Offer[] | undefined) {
  const [kept, setKept] = useState<Offer | null>(null);
  const onScreen = known?.find((candidate) => candidate.offerId === offerId);
  const all = useQuery({
    ...q(api.hardware.offers, { entityFilterRequest: { limit: 100 } }, { quiet: true }),
    enabled: offerId !== null && known !== undefined && !onScreen && kept?.offerId !== offerId,
    refetchInterval: ({ state }) => (isNotKnown(offerId, state.data?.providers) ? LOOK_AGAIN_MS : false),
  });
  const found = onScreen ?? all.data?.entities.find((candidate) => candidate.offerId === offerId);
  if (found && found !== kept) setKept(found);
  const notKnown = isNotKnown(offerId, all.data?.providers);
  return {
    offer: found ?? (offerId === null || kept?.offerId === offerId ? kept : null),
    loading: known === undefined || (all.isFetching && !notKnown),
    error: all.error,
    notKnown,
    retry: () => void all.refetch(),
  };
}

const LOOK_AGAIN_MS = 2_000;

/** A provider that is not ready, as just after a start of the platform, lists nothing: that does not mean it is gone. */
function isNotKnown(offerId: string | null, providers: readonly ProviderState[] = []): boolean {
  const name = offerId?.split(':')[0];
  return providers.some(({ provider, state }) => provider === name && state !== 'ready');
}

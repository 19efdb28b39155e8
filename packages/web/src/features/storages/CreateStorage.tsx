import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { useAddressParams } from '../../navigation/useAddressParams.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';

/** Code of its own: the list does not wait for it. */
const NewStorageFields = lazyComponent(async () => (await import('./NewStorageFields.tsx')).NewStorageFields);

/** The form that rents a storage, at the side of the list while the address has `?new`. */
export function CreateStorage() {
  const t = useT();
  const [params, changeParams] = useAddressParams();
  const opened = params.has('new');

  function close(): void {
    changeParams((next) => next.delete('new'), { replace: true });
  }

  return (
    <Dialog
      opened={opened}
      onClose={close}
      routed
      placement="right"
      title={t('Create a storage')}
      testId="storage-dialog"
    >
      {opened && <Offered />}
    </Dialog>
  );
}

function Offered() {
  const { data, error, isFetching, refetch } = useQuery(q(api.storages.form, {}, { quiet: true }));
  if (data)
    return (
      <Suspense fallback={<PanelSkeleton rows={6} />}>
        <NewStorageFields offer={data} />
      </Suspense>
    );
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <PanelSkeleton rows={6} />;
}

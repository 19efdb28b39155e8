import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { GB } from '@stagi/contract/storageRules.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useQuery } from '@tanstack/react-query';
import { errorText } from '../../api/messages.ts';
import { invalidate, q } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useEditVersion } from '../../api/useEditVersion.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { formatDecimalBytes } from '../../ui/format.ts';
import { Money } from '../../ui/Money.tsx';
import { OvertakenNote } from '../../ui/OvertakenNote.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { toast } from '../../ui/toasts.ts';
import { SizeField } from './SizeField.tsx';
import { SizePriceFacts } from './SizePriceFacts.tsx';
import { type SizeBounds, type StorageForm, sizeProblem, wholeGb } from './storageSize.ts';

interface Props {
  /** Null: closed. */
  storage: Storage | null;
  onClose(): void;
}

export function ResizeStorage({ storage, onClose }: Props) {
  const t = useT();
  return (
    <Dialog
      opened={storage !== null}
      onClose={onClose}
      title={t('Resize “{{title}}”', { title: storage?.title ?? '' })}
      withClose={false}
      testId="resize-dialog"
    >
      {storage && <Offered storage={storage} onClose={onClose} />}
    </Dialog>
  );
}

function Offered({ storage, onClose }: { storage: Storage; onClose(): void }) {
  const { data, error, isFetching, refetch } = useQuery(q(api.storages.form, {}, { quiet: true }));
  if (data) return <Fields storage={storage} offer={data} onClose={onClose} />;
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <PanelSkeleton rows={4} />;
}

function Fields({ storage, offer, onClose }: { storage: Storage; offer: StorageForm; onClose(): void }) {
  const t = useT();
  const { id, sizeGb, usedBytes, pricePerMonth } = storage;
  const bounds: SizeBounds = { offer, takenGb: sizeGb, storedGb: Math.max(1, Math.ceil(usedBytes / GB)) };
  const edit = useEditVersion(storage.version, () => void invalidate('storage/'));
  const { form, field, submit, loading } = useCallForm(api.storages.edit, {
    initialValues: { sizeGb: sizeGb as number | string },
    toInput: (values) => ({ id, ...values, version: edit.version }),
    onRefused: edit.onRefused,
    alsoCheck: (values): Record<string, string> => {
      const problem = sizeProblem(t, values.sizeGb, bounds);
      return problem ? { sizeGb: problem } : {};
    },
    onDone: () => {
      void invalidate('storage/', 'billing/');
      toast.success(t('The storage has been resized'));
      onClose();
    },
  });
  const chosen = wholeGb(form.values.sizeGb);
  const { error } = field('sizeGb');
  return (
    <Form onSubmit={submit}>
      <Stack gap={16}>
        <SizeField
          bounds={bounds}
          value={form.values.sizeGb}
          onChange={(next) => form.setFieldValue('sizeGb', next)}
          onBlur={() => form.setFieldError('sizeGb', sizeProblem(t, form.values.sizeGb, bounds))}
          error={typeof error === 'string' ? error : undefined}
        />
        <SizePriceFacts
          pricePerGbMonth={offer.pricePerGbMonth}
          sizeGb={chosen}
          more={[
            { label: t('Now'), value: <Money price={pricePerMonth} per="month" /> },
            { label: t('Used'), value: formatDecimalBytes(usedBytes), mono: true },
          ]}
        />
        <OvertakenNote shown={edit.isOvertaken} />
        <DialogButtons
          onCancel={onClose}
          submitLabel={t('Resize')}
          disabled={chosen === sizeGb}
          loading={loading}
          testId="resize-submit"
        />
      </Stack>
    </Form>
  );
}

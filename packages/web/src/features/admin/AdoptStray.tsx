import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import type { Stray } from '@stagi/contract/strays.ts';
import { useQuery } from '@tanstack/react-query';
import { invalidate, q } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { UniqueIdInput } from '../../ui/form/UniqueIdInput.tsx';
import { formatAmount, formatNumber } from '../../ui/format.ts';
import { Note } from '../../ui/Note.tsx';
import { toast } from '../../ui/toasts.ts';
import { WorkspacePicker } from './WorkspacePicker.tsx';

interface Props {
  stray: Stray | null;
  onClose(): void;
}

/** Gives a machine that nobody owns to a workspace, as an instance at the price of an offer. */
export function AdoptStray({ stray, onClose }: Props) {
  const t = useT();
  return (
    <Dialog
      opened={stray !== null}
      onClose={onClose}
      title={t('Adopt “{{title}}”', { title: stray?.name ?? '' })}
      testId="adopt-dialog"
    >
      {stray && <AdoptForm stray={stray} onClose={onClose} />}
    </Dialog>
  );
}

function AdoptForm({ stray, onClose }: { stray: Stray; onClose(): void }) {
  const t = useT();
  const offers = useQuery(
    q(
      api.hardware.offers,
      { filters: { providers: [stray.provider] }, entityFilterRequest: { limit: 100 } },
      { quiet: true },
    ),
  );
  const { field, submit, loading } = useCallForm(api.strays.adopt, {
    initialValues: { workspaceId: null as number | null, offerId: '', title: '', slug: '' },
    toInput: ({ workspaceId, ...rest }) => ({ id: stray.id, workspaceId: workspaceId ?? undefined, ...rest }),
    onDone: ({ entity }) => {
      void invalidate('admin/');
      toast.success(t('“{{title}}” has been adopted', { title: entity.name }));
      onClose();
    },
  });
  return (
    <Form onSubmit={submit} noValidate>
      <Stack gap={16}>
        <div>{t('It becomes an instance of a workspace, which is billed for it by the hour from then on.')}</div>
        <WorkspacePicker label={t('Workspace')} data-testid="adopt-workspace" {...field('workspaceId')} />
        <Select
          label={t('Offer')}
          description={t('The type of the machine and its price')}
          options={(offers.data?.entities ?? []).map(({ offerId, region, pricePerHour, cpu, gpu, ramGb }) => ({
            value: offerId,
            label: gpu && gpu.count > 0 ? `${gpu.count} × ${gpu.name}` : t('{{count}} cores', { count: cpu.cores }),
            description: `${formatNumber(ramGb)} GB · ${region} · ${formatAmount(pricePerHour.STAGI.decimalValue)} ${CURRENCY}/${t('h')}`,
          }))}
          {...field('offerId')}
        />
        {offers.error && <Note tone="bad">{t('The offers of this cloud could not be read')}</Note>}
        <TextInput label={t('Title')} autoComplete="off" {...field('title')} />
        <UniqueIdInput label={t('Unique ID')} {...field('slug')} />
        <DialogButtons onCancel={onClose} submitLabel={t('Adopt')} loading={loading} testId="adopt-submit" />
      </Stack>
    </Form>
  );
}

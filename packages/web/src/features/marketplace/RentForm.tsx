import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Offer } from '@stagi/contract/hardware.ts';
import { useNavigate } from 'react-router';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import type { SshKeyDialogSlot } from '../../featureSlots.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Note } from '../../ui/Note.tsx';
import { TitleAndSlug } from '../../ui/TitleAndSlug.tsx';
import { OfferFacts } from './OfferFacts.tsx';
import { RentSummary } from './RentSummary.tsx';
import { SshKeySelect, useSshKeys } from './SshKeySelect.tsx';

export function RentForm({ offer, SshKeyDialog }: { offer: Offer; SshKeyDialog: SshKeyDialogSlot }) {
  const t = useT();
  const navigate = useNavigate();
  const { form, field, submit, loading } = useCallForm(api.instances.rent, {
    initialValues: { title: '', slug: '', sshKeyId: '' },
    toInput: ({ title, slug, sshKeyId }) => ({
      offerId: offer.offerId,
      title,
      slug,
      sshKeyId: sshKeyId === '' ? undefined : Number(sshKeyId),
      maxPricePerHour: offer.pricePerHour.STAGI.decimalValue,
    }),
    onDone: ({ entity }) => {
      void invalidate('instance-rented/', 'billing/', 'hardware/');
      void navigate(paths.instance(entity.id));
    },
    onRefused: () => {
      void invalidate('hardware/', 'billing/');
      return false;
    },
  });
  // Before the keys are there none is chosen, and the field that would say so is not shown yet.
  const keysArePending = useSshKeys().isPending;
  const sellsOut = offer.availability === 'none';
  const refused = form.errors.offerId ?? form.errors.maxPricePerHour;

  return (
    <Stack gap={20}>
      <OfferFacts offer={offer} />
      <Form id="rent" onSubmit={submit}>
        <Stack gap={16}>
          <TitleAndSlug
            title={field('title')}
            slug={field('slug')}
            placeholder={t('What it is for, such as “training”')}
          />
        </Stack>
      </Form>
      <SshKeySelect
        SshKeyDialog={SshKeyDialog}
        value={form.values.sshKeyId}
        onChange={(id) => form.setFieldValue('sshKeyId', id)}
        error={field('sshKeyId').error}
        form="rent"
      />
      <RentSummary offer={offer} />
      {refused && <Note tone="bad">{t(String(refused))}</Note>}
      {sellsOut && <Note tone="warn">{t('The provider has none left at the moment. Renting may be refused.')}</Note>}
      <Button
        type="submit"
        form="rent"
        loading={loading || keysArePending}
        size="m"
        fullWidth
        data-testid="rent-submit"
      >
        {t('Rent')}
      </Button>
    </Stack>
  );
}

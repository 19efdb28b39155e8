import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { useNavigate } from 'react-router';
import { invalidate } from '../../api/query.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Note } from '../../ui/Note.tsx';
import { TitleAndSlug } from '../../ui/TitleAndSlug.tsx';
import { SizeField } from './SizeField.tsx';
import { SizePriceFacts } from './SizePriceFacts.tsx';
import { largestSize, restOfPlan, type SizeBounds, type StorageForm, sizeProblem, wholeGb } from './storageSize.ts';

const FIRST_SIZE_GB = 10;

/** What a new storage is asked for, and what it costs. */
export function NewStorageFields({ offer }: { offer: StorageForm }) {
  const t = useT();
  const navigate = useNavigate();
  const bounds: SizeBounds = { offer, takenGb: 0, storedGb: 1 };
  const { form, field, submit, loading } = useCallForm(api.storages.create, {
    initialValues: {
      title: '',
      slug: '',
      sizeGb: Math.max(1, Math.min(FIRST_SIZE_GB, largestSize(bounds))) as number | string,
      // With one location there is nothing to choose.
      location: offer.locations.length === 1 ? (offer.locations[0]?.name ?? null) : (null as string | null),
    },
    toInput: ({ location, ...values }) => ({ ...values, location: location ?? '' }),
    alsoCheck: ({ sizeGb }): Record<string, string> => {
      const problem = sizeProblem(t, sizeGb, bounds);
      return problem ? { sizeGb: problem } : {};
    },
    onDone: ({ entity }) => {
      void invalidate('storage/', 'billing/');
      void navigate(paths.storage(entity.id));
    },
  });
  const rest = restOfPlan(bounds);
  const sizeGb = wholeGb(form.values.sizeGb);
  const { error } = field('sizeGb');
  return (
    <Form onSubmit={submit}>
      <Stack gap={20}>
        <Stack gap={16}>
          <TitleAndSlug
            title={field('title')}
            slug={field('slug')}
            placeholder={t('What it is for, such as “datasets”')}
            slugHint={t('Also the name of the bucket: letters, digits and hyphens')}
          />
          <SizeField
            bounds={bounds}
            value={form.values.sizeGb}
            onChange={(next) => form.setFieldValue('sizeGb', next)}
            onBlur={() => form.setFieldError('sizeGb', sizeProblem(t, form.values.sizeGb, bounds))}
            error={typeof error === 'string' ? error : undefined}
          />
          <Select
            label={t('Location')}
            options={offer.locations.map(({ name, title }) => ({ value: name, label: t(title) }))}
            data-testid="storage-location"
            {...field('location')}
          />
        </Stack>
        <SizePriceFacts
          pricePerGbMonth={offer.pricePerGbMonth}
          sizeGb={sizeGb}
          more={[
            ...(rest === null
              ? []
              : [
                  {
                    label: t('Left of the plan'),
                    value: t('{{rest}} of {{total}} GB', {
                      rest: formatNumber(Math.max(0, rest - sizeGb), 0),
                      total: formatNumber(offer.planGb ?? 0, 0),
                    }),
                  },
                ]),
            { label: t('Ready in'), value: t('seconds, at most 2 minutes') },
          ]}
        />
        {rest !== null && rest < 1 && (
          <Note tone="warn" title={t('Your plan has no storage left')}>
            {t('Delete a storage or make one smaller to create another.')}
          </Note>
        )}
        <Button type="submit" loading={loading} size="m" fullWidth data-testid="storage-submit">
          {t('Create')}
        </Button>
      </Stack>
    </Form>
  );
}

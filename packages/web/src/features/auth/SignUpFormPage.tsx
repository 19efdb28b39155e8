import { Skeleton, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Purpose } from '@stagi/contract/purposes.ts';
import { lazy, Suspense } from 'react';
import { useSite } from '../../api/site.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { setProfile, signOut, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';

/** Loaded lazily: a select weighs more than the rest of the page. */
const PurposeSelect = lazy(async () => ({ default: (await import('./PurposeSelect.tsx')).PurposeSelect }));

/** Asked once, after the first sign-in. The route guard redirects when it has been sent. */
export function SignUpFormPage() {
  const t = useT();
  const { profile } = useUser();
  const { isPhoneOptional = false } = useSite();
  const { field, submit, loading } = useCallForm(api.user.signupForm, {
    initialValues: { name: profile.name, phone: '', company: '', purpose: null as Purpose | null },
    toInput: ({ name, phone, company, purpose }) => ({
      name,
      phone: isPhoneOptional && phone.trim() === '' ? undefined : phone,
      company: company.trim() || undefined,
      purpose: purpose ?? undefined,
    }),
    onDone: ({ userProfile }) => setProfile(userProfile),
  });

  return (
    <FormCard
      title={t('About you')}
      lead={t('One last step, {{email}}. We ask only once.', { email: profile.email })}
      below={
        <>
          {t('Not you?')}{' '}
          <button type="button" onClick={() => void signOut()}>
            {t('Log out')}
          </button>
        </>
      }
    >
      <Form onSubmit={submit}>
        <Stack gap={16}>
          <TextInput label={t('Name')} autoComplete="name" {...field('name')} />
          <TextInput
            label={t('Phone')}
            optional={isPhoneOptional}
            description={t('With the country code, such as +44 20 7946 0000')}
            type="tel"
            autoComplete="tel"
            autoFocus
            {...field('phone')}
          />
          <TextInput label={t('Company')} optional autoComplete="organization" {...field('company')} />
          <Suspense fallback={<Skeleton height={62} />}>
            <PurposeSelect {...field('purpose')} />
          </Suspense>
          <Button type="submit" loading={loading} fullWidth>
            {t('Continue')}
          </Button>
        </Stack>
      </Form>
    </FormCard>
  );
}

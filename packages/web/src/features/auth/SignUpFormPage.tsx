import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { PURPOSES, type Purpose } from '@stagi/contract/purposes.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { signOut, takeProfile, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { text } from '../../i18n/text.ts';
import { Button } from '../../ui/Button.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import classes from './SignCard.module.css';
import { SignCard } from './SignCard.tsx';

const WORDS: Record<Purpose, string> = {
  training: text('Training models'),
  inference: text('Running models'),
  research: text('Research'),
  learning: text('Learning and teaching'),
  other: text('Something else'),
};

/** Between the first sign-in and the product, once; the guard leads on when it has been sent. */
export function SignUpFormPage() {
  const t = useT();
  const { profile } = useUser();
  const { field, submit, loading } = useCallForm(api.user.signupForm, {
    initialValues: { name: profile.name, phone: '', company: '', purpose: null as Purpose | null },
    toInput: ({ company, purpose, ...who }) => ({
      ...who,
      company: company.trim() || undefined,
      purpose: purpose ?? undefined,
    }),
    onDone: ({ userProfile }) => takeProfile(userProfile),
  });

  return (
    <SignCard
      title={t('About you')}
      lead={t('One last step, {{email}}. We ask only once.', { email: profile.email })}
      below={
        <>
          {t('Not you?')}{' '}
          <button type="button" className={classes.link} onClick={() => void signOut()}>
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
            description={t('With the code of your country, like +44 20 7946 0000')}
            type="tel"
            autoComplete="tel"
            autoFocus
            {...field('phone')}
          />
          <TextInput label={t('Company')} optional autoComplete="organization" {...field('company')} />
          <Select
            label={t('What for?')}
            optional
            clearable
            options={PURPOSES.map((purpose) => ({ id: purpose, name: t(WORDS[purpose]) }))}
            keyField="id"
            labelField="name"
            {...field('purpose')}
          />
          <Button type="submit" loading={loading} fullWidth>
            {t('Continue')}
          </Button>
        </Stack>
      </Form>
    </SignCard>
  );
}

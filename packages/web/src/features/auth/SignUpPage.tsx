import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { track } from '../../api/analytics.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { useTypedBeforeHydration } from '../../prerender/useTypedBeforeHydration.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { NewPasswordFields, repetitionErrors } from '../../ui/form/NewPasswordFields.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { OtherSignInMethods } from './OtherSignInMethods.tsx';
import { rememberSignUp } from './pendingSignUp.ts';

interface Props {
  invite?: string;
  /** A sentence on the address that is accepted. */
  emailHint?: string;
}

export function SignUpPage({ invite, emailHint }: Props) {
  const t = useT();
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const returnUrl = params.get('returnUrl') ?? undefined;
  const { form, field, submit, loading } = useCallForm(api.auth.register, {
    initialValues: { name: '', email: '', password: '', confirmation: '' },
    toInput: ({ confirmation: _, ...input }) => ({ ...input, invite }),
    alsoCheck: ({ password, confirmation }) => repetitionErrors(password, confirmation),
    onSubmit: () => track('sign_up_button_clicked'),
    onDone: ({ flow }, { email }) => {
      rememberSignUp({ email, flow, mailedAt: Date.now(), invite });
      void navigate(paths.confirmation(email, returnUrl));
    },
  });
  useTypedBeforeHydration(form);

  return (
    <FormCard
      title={t('Sign up')}
      lead={t('We email you a code to confirm your address.')}
      below={
        <>
          {t('Already have an account?')} <Link to={paths.signIn(returnUrl)}>{t('Log in')}</Link>
        </>
      }
    >
      <Form onSubmit={submit}>
        <Stack gap={16}>
          <TextInput label={t('Name')} autoComplete="name" autoFocus {...field('name')} />
          <TextInput label={t('Email')} description={emailHint} type="email" autoComplete="email" {...field('email')} />
          <NewPasswordFields name="password" isFirst field={field} password={form.values.password} />
          <Button type="submit" loading={loading} fullWidth>
            {t('Sign up')}
          </Button>
        </Stack>
      </Form>
      <OtherSignInMethods returnUrl={returnUrl} invite={invite} onLeave={() => track('sign_up_button_clicked')} />
    </FormCard>
  );
}

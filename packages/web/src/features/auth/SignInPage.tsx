import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { Link, useSearchParams } from 'react-router';
import { useOffersSignUp } from '../../api/site.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { useTypedBeforeHydration } from '../../prerender/useTypedBeforeHydration.ts';
import { Button } from '../../ui/Button.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { PasswordInput } from '../../ui/form/PasswordInput.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { OtherSignInMethods } from './OtherSignInMethods.tsx';
import { PasskeyLogin } from './PasskeyLogin.tsx';
import classes from './signIn.module.css';
import { useStartSession } from './useStartSession.ts';

/** Starts the session or asks for the second factor. The route guard then redirects to the return address. */
export function SignInPage() {
  const t = useT();
  const [params] = useSearchParams();
  const offersSignUp = useOffersSignUp();
  const startSession = useStartSession();
  const returnUrl = params.get('returnUrl') ?? undefined;
  const { form, field, submit, loading } = useCallForm(api.auth.authentication, {
    initialValues: { email: '', password: '' },
    onDone: (answer) => startSession(answer, 'email'),
  });
  useTypedBeforeHydration(form);

  return (
    <FormCard
      title={t('Log in')}
      below={
        offersSignUp && (
          <>
            {t('No account yet?')} <Link to={paths.signUp(returnUrl)}>{t('Sign up')}</Link>
          </>
        )
      }
    >
      <Form onSubmit={submit}>
        <Stack gap={16}>
          <TextInput label={t('Email')} type="email" autoComplete="username webauthn" autoFocus {...field('email')} />
          <div>
            <PasswordInput label={t('Password')} autoComplete="current-password" {...field('password')} />
            <p className={classes.beside}>
              <Link to={paths.recovery(returnUrl)} state={{ email: form.values.email }}>
                {t('Forgot your password?')}
              </Link>
            </p>
          </div>
          <Button type="submit" loading={loading} fullWidth>
            {t('Log in')}
          </Button>
        </Stack>
      </Form>
      <OtherSignInMethods returnUrl={returnUrl}>
        <PasskeyLogin />
      </OtherSignInMethods>
    </FormCard>
  );
}

import { Stack } from '@mantine/core';
import type { SecondFactorMethod } from '@stagi/contract/authResponse.ts';
import { IconFingerprint } from '@tabler/icons-react';
import { useState } from 'react';
import { hasPasskeys } from '../../api/passkeys.ts';
import type { CallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { CodeField } from '../../ui/form/CodeField.tsx';
import { Form } from '../../ui/form/Form.tsx';
import { TextInput } from '../../ui/form/TextInput.tsx';
import { Note } from '../../ui/Note.tsx';
import classes from './SecondFactorForm.module.css';
import type { PasskeyPrompt } from './usePasskey.ts';

interface Props {
  methods: readonly SecondFactorMethod[];
  form: CallForm<{ code: string }>;
  passkey: PasskeyPrompt;
  submitLabel: string;
}

/** Asks for a second factor. The safest method that the person has set up comes first. */
export function SecondFactorForm({ methods, form: { form, field, submit, loading }, passkey, submitLabel }: Props) {
  const t = useT();
  const [recovers, setRecovers] = useState(methods.every((method) => method === 'recovery-code'));
  const byApp = methods.includes('totp');
  const byPasskey = methods.includes('passkey');

  function turn(): void {
    form.setValues({ code: '' });
    form.clearErrors();
    setRecovers(!recovers);
  }

  return (
    <Stack gap={16}>
      {byPasskey && !recovers && (
        <>
          {hasPasskeys() ? (
            <Button
              fullWidth
              icon={<IconFingerprint size={18} />}
              loading={passkey.loading}
              onClick={passkey.run}
              data-autofocus
              data-testid="use-passkey"
            >
              {t('Use a passkey')}
            </Button>
          ) : (
            <Note>{t('This browser cannot use passkeys here. Choose another way.')}</Note>
          )}
          {passkey.problem && <Note tone="bad">{passkey.problem}</Note>}
        </>
      )}
      {byPasskey && byApp && !recovers && <p className={classes.or}>{t('or')}</p>}
      {(byApp || recovers) && (
        <Form onSubmit={submit}>
          <Stack gap={16}>
            {recovers ? (
              <TextInput
                key="recovery"
                label={t('Recovery code')}
                description={t('One of your ten recovery codes. Each works once.')}
                autoComplete="off"
                spellCheck={false}
                autoFocus
                classNames={{ input: 'mono' }}
                {...field('code')}
              />
            ) : (
              <CodeField
                key="app"
                label={t('Authenticator app code')}
                digits={6}
                autoFocus={!byPasskey}
                {...field('code')}
              />
            )}
            <Button type="submit" color={byPasskey && !recovers ? 'gray' : 'primary'} loading={loading} fullWidth>
              {submitLabel}
            </Button>
          </Stack>
        </Form>
      )}
      {methods.includes('recovery-code') && (byApp || byPasskey) && (
        <Button color="gray" look="quiet" fullWidth onClick={turn}>
          {recovers ? t('Try another way') : t('Use a recovery code')}
        </Button>
      )}
    </Stack>
  );
}

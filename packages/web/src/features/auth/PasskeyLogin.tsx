import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { IconFingerprint } from '@tabler/icons-react';
import { call } from '../../api/client.ts';
import { session } from '../../api/session.ts';
import { useSite } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Note } from '../../ui/Note.tsx';
import { usePasskey } from './usePasskey.ts';
import { usePasskeySuggestions } from './usePasskeySuggestions.ts';

/** Passwordless sign-in with a passkey, by the button or from the autofill of the email field. */
export function PasskeyLogin() {
  const t = useT();
  const { isPasswordOff = false } = useSite();
  const { run, give, loading, problem } = usePasskey({
    ask: () => call(api.secondFactor.passkeyOptions, {}, { handlesMessages: true }),
    show: async (assertion) =>
      session.begin(await call(api.secondFactor.passkeyVerify, { assertion }, { handlesMessages: true }), 'email'),
  });
  // They come with the email field.
  usePasskeySuggestions(!loading && !isPasswordOff, {
    ask: () => call(api.secondFactor.passkeyOptions, {}, { quiet: true }),
    onPicked: give,
  });
  return (
    <Stack gap={8}>
      <Button
        color="gray"
        fullWidth
        icon={<IconFingerprint size={18} />}
        loading={loading}
        onClick={run}
        data-testid="passkey-login"
      >
        {t('Log in with a passkey')}
      </Button>
      {problem && <Note tone="bad">{problem}</Note>}
    </Stack>
  );
}

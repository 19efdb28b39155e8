import { api } from '@stagi/contract/api.ts';
import { useState } from 'react';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { NewCodeButton } from '../../ui/form/NewCodeButton.tsx';
import { toast } from '../../ui/toasts.ts';
import { pendingSignUp, rememberSignUp } from './pendingSignUp.ts';

interface Props {
  email: string;
  flow?: string;
  onSent(): void;
}

/** A new code for the sign-up. */
export function ResendCode({ email, flow, onSent }: Props) {
  const t = useT();
  const [mailedAt, setMailedAt] = useState(() => pendingSignUp(email)?.mailedAt ?? 0);
  const { run, loading } = useCall(api.auth.resendCode, {
    onDone: () => {
      mailed(Date.now());
      toast.success(t('New code sent'));
      onSent();
    },
  });

  function mailed(at: number): void {
    setMailedAt(at);
    if (flow) rememberSignUp({ email, flow, mailedAt: at });
  }

  return <NewCodeButton mailedAt={mailedAt} loading={loading} onClick={() => void run({ email, flow })} />;
}

import { api } from '@stagi/contract/api.ts';
import { CODE_RESEND_SECONDS } from '@stagi/contract/mailedCodes.ts';
import { useState } from 'react';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { useNow } from '../../ui/clock.ts';
import { formatElapsed } from '../../ui/format.ts';
import { toast } from '../../ui/toasts.ts';
import { pendingSignUp, rememberSignUp } from './pendingSignUp.ts';
import classes from './ResendCode.module.css';

interface Props {
  email: string;
  flow?: string;
  onSent(): void;
}

/** A new code, at most once a minute; counts down to the next. */
export function ResendCode({ email, flow, onSent }: Props) {
  const t = useT();
  const now = useNow();
  const [mailedAt, setMailedAt] = useState(() => pendingSignUp(email)?.mailedAt ?? 0);
  const { run, loading } = useCall(api.auth.resendCode, {
    onDone: () => {
      mailed(Date.now());
      toast.success(t('A new code is on its way'));
      onSent();
    },
  });
  const wait = Math.ceil(CODE_RESEND_SECONDS - (now - mailedAt) / 1000);

  function mailed(at: number): void {
    setMailedAt(at);
    if (flow) rememberSignUp({ email, flow, mailedAt: at });
  }

  if (wait > 0) return <p className={classes.wait}>{t('New code in {{time}}', { time: formatElapsed(wait) })}</p>;
  return (
    <Button color="gray" look="quiet" fullWidth loading={loading} onClick={() => void run({ email, flow })}>
      {t('Send a new code')}
    </Button>
  );
}

import { api } from '@stagi/contract/api.ts';
import type { AuthResponse } from '@stagi/contract/authResponse.ts';
import type { CallError } from '@stagi/contract/errors.ts';
import { useState } from 'react';
import { Link, Navigate, useNavigate, useSearchParams } from 'react-router';
import { call } from '../../api/client.ts';
import { errorText } from '../../api/messages.ts';
import { session } from '../../api/session.ts';
import { useCallForm } from '../../api/useCallForm.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { FormCard } from '../../ui/FormCard.tsx';
import { toast } from '../../ui/toasts.ts';
import { forgetSecondFactor, type PendingSecondFactor, pendingSecondFactor } from './pendingSecondFactor.ts';
import { SecondFactorForm } from './SecondFactorForm.tsx';
import { usePasskey } from './usePasskey.ts';

/** The second step of a sign-in. The route guard then redirects to the return address. */
export function SecondFactorPage() {
  const [pending] = useState(pendingSecondFactor);
  const [params] = useSearchParams();
  const signIn = paths.signIn(params.get('returnUrl') ?? undefined);
  return pending ? <Ask pending={pending} signIn={signIn} /> : <Navigate to={signIn} replace />;
}

function Ask({ pending: { ticket, methods, type }, signIn }: { pending: PendingSecondFactor; signIn: string }) {
  const t = useT();
  const navigate = useNavigate();
  const form = useCallForm(api.secondFactor.verify, {
    initialValues: { code: '' },
    toInput: ({ code }) => ({ ticket, code }),
    onDone: begin,
    onRefused: startAgain,
  });
  const passkey = usePasskey({
    ask: () => call(api.secondFactor.passkeyOptions, { ticket }, { handlesMessages: true }),
    show: async (assertion) =>
      begin(await call(api.secondFactor.verify, { ticket, assertion }, { handlesMessages: true })),
    onRefused: startAgain,
  });

  function begin(tokens: AuthResponse): void {
    forgetSecondFactor();
    session.begin(tokens, type);
  }

  /** The proof of the first factor is no longer valid. */
  function startAgain(refusal: CallError): boolean {
    if (refusal.status !== 200) return false;
    forgetSecondFactor();
    toast.error(errorText(refusal));
    void navigate(signIn, { replace: true });
    return true;
  }

  return (
    <FormCard
      title={t('One more step')}
      lead={t('Your account is protected by a second factor.')}
      below={<Link to={signIn}>{t('Back to login')}</Link>}
    >
      <SecondFactorForm methods={methods} form={form} passkey={passkey} submitLabel={t('Log in')} />
    </FormCard>
  );
}

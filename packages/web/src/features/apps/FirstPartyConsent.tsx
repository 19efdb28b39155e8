import { api } from '@stagi/contract/api.ts';
import type { App } from '@stagi/contract/apps.ts';
import type { AuthorizationRequest } from '@stagi/contract/authorizationRequest.ts';
import { useEffect, useRef, useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { RedirectToApp } from './RedirectToApp.tsx';

/** Authorizes an app of the platform itself without a question, and redirects back to it. */
export function FirstPartyConsent({ app, request }: { app: App; request: AuthorizationRequest }) {
  const t = useT();
  const [link, setLink] = useState<string | null>(null);
  const { run, loading, error } = useCall(api.apps.authorizationCode, {
    onDone: (answer) => setLink(answer.link),
    onRefused: () => true,
  });
  const isAsked = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, however often this is drawn
  useEffect(() => {
    if (isAsked.current) return;
    isAsked.current = true;
    void run(request);
  }, []);

  if (link !== null) return <RedirectToApp name={app.name} link={link} />;
  return (
    <FormCard size="m" title={t('Connect {{app}}', { app: app.name })}>
      {error ? (
        <ErrorState
          title={t('This app cannot be connected')}
          message={errorText(error)}
          onRetry={() => void run(request)}
          retrying={loading}
        />
      ) : (
        <PanelSkeleton />
      )}
    </FormCard>
  );
}

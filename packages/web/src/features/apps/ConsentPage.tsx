import { api } from '@stagi/contract/api.ts';
import type { App } from '@stagi/contract/apps.ts';
import { type AuthorizationRequest, findAuthorizationRequest } from '@stagi/contract/authorizationRequest.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { ConsentForm, isThisComputer } from './ConsentForm.tsx';
import { FirstPartyConsent } from './FirstPartyConsent.tsx';

/**
 * The consent page of OAuth. Apps of the operator need no consent, except on this computer: any program may listen there.
 */
export function ConsentPage() {
  const { pathname, search } = useLocation();
  const request = findAuthorizationRequest(new URL(pathname + search, window.location.origin));
  return request ? <Consent request={request} /> : <Incomplete />;
}

function Consent({ request }: { request: AuthorizationRequest }) {
  const t = useT();
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.apps.authorizationRequest, request, { quiet: true }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error)
    return (
      <FormCard size="m" title={t('Connect an app')}>
        <ErrorState
          title={t('This app cannot be connected')}
          message={errorText(error)}
          onRetry={isFinal(error) ? undefined : () => void refetch()}
          retrying={isFetching}
        />
      </FormCard>
    );
  if (!data)
    return (
      <FormCard size="m" title={t('Connect an app')}>
        <PanelSkeleton />
      </FormCard>
    );
  return data.app.isFirstParty && !isThisComputer(data.redirectHost) ? (
    <FirstPartyConsent app={data.app} request={request} />
  ) : (
    <ConsentForm app={data.app satisfies App} request={request} host={data.redirectHost} denyLink={data.denyLink} />
  );
}

/** An invalid request stays invalid. */
const isFinal = (error: Error) => error instanceof CallError && error.status === 400;

function Incomplete() {
  const t = useT();
  return (
    <FormCard size="m" title={t('Connect an app')}>
      <ErrorState
        title={t('This app cannot be connected')}
        message={t('The link is not complete. Start again from the app.')}
      />
    </FormCard>
  );
}

import { api } from '@stagi/contract/api.ts';
import type { App } from '@stagi/contract/apps.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { type HandOff, handOffIn } from '@stagi/contract/handOff.ts';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { q } from '../../api/query.ts';
import { useT } from '../../i18n/i18n.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import { AskConsent } from './AskConsent.tsx';
import classes from './ConsentPage.module.css';
import { LetIn } from './LetIn.tsx';

/** An app asks to be let in; the platform's own are, without a question. */
export function ConsentPage() {
  const { pathname, search } = useLocation();
  const request = handOffIn(new URL(pathname + search, window.location.origin));
  return <div className={classes.middle}>{request ? <Consent request={request} /> : <Incomplete />}</div>;
}

function Consent({ request }: { request: HandOff }) {
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
  return data.app.isFirstParty ? (
    <LetIn app={data.app} request={request} />
  ) : (
    <AskConsent app={data.app satisfies App} request={request} host={data.redirectHost} denyLink={data.denyLink} />
  );
}

/** What is not right about a request does not get better by asking again. */
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

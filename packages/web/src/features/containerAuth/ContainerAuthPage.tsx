import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { useEffect, useRef, useState } from 'react';
import { useLocation, useParams, useSearchParams } from 'react-router';
import { portOfHost } from '../../access/containerPort.ts';
import { call } from '../../api/client.ts';
import { errorText } from '../../api/messages.ts';
import { signOut, useUser } from '../../api/user.ts';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { FormCard } from '../../ui/FormCard.tsx';
import { Note } from '../../ui/Note.tsx';
import { PanelSkeleton } from '../../ui/Skeletons.tsx';
import classes from './ContainerAuthPage.module.css';

/** Visitors of a container's port without a cookie come here. They are redirected back with a code, or see why not. */
export function ContainerAuthPage() {
  const t = useT();
  const { slug = '' } = useParams();
  const [params] = useSearchParams();
  const { pathname, search } = useLocation();
  const { profile } = useUser();
  const returnUrl = params.get('returnUrl') ?? '';
  const port = portOfHost(slug, returnUrl);
  const trip = params.get('trip') ?? undefined;
  const [tried, setTried] = useState(params.has('failed'));
  const [error, setError] = useState<CallError | null>(null);
  const [asking, setAsking] = useState(false);
  const isAsked = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, however often this is drawn
  useEffect(() => {
    if (tried || isAsked.current) return;
    isAsked.current = true;
    void enter();
  }, []);

  async function enter(): Promise<void> {
    setTried(false);
    setError(null);
    setAsking(true);
    try {
      const { link } = await call(api.containerAccess.enter, { slug, returnUrl, trip }, { quiet: true });
      // Replaces the history entry, so that Back skips this page.
      window.location.replace(link);
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      setError(cause);
      setAsking(false);
    }
  }

  return (
    <FormCard
      size="m"
      title={port ? t('Open port {{port}} of {{slug}}', { ...port }) : t('Open {{slug}}', { slug })}
      below={
        <>
          {t('You are logged in as {{email}}.', { email: profile.email })}{' '}
          <button type="button" onClick={() => void signOut(pathname + search)}>
            {t('Log out')}
          </button>
        </>
      }
    >
      {error ? (
        <Refused error={error} onRetry={() => void enter()} retrying={asking} />
      ) : tried ? (
        <div className={classes.again}>
          <Note tone="warn">
            {t('This link to the container was already used, has expired or was opened in another browser.')}
          </Note>
          <Button fullWidth onClick={() => void enter()} data-testid="container-auth-again">
            {t('Open it again')}
          </Button>
        </div>
      ) : (
        <div role="status">
          <PanelSkeleton />
          <p className={classes.word}>{t('Opening the container.')}</p>
        </div>
      )}
    </FormCard>
  );
}

function Refused({ error, onRetry, retrying }: { error: CallError; onRetry(): void; retrying: boolean }) {
  const t = useT();
  switch (error.status) {
    case 403:
      return (
        <ErrorState
          title={t('No access')}
          message={t('Your role in the workspace of this container does not let you see containers.')}
        />
      );
    case 404:
      return (
        <ErrorState
          title={t('There is no such container')}
          message={t('It has been deleted, or belongs to a workspace that you are not a member of.')}
        />
      );
    case 200:
    case 400:
      return <ErrorState title={t('This container cannot be opened')} message={errorText(error)} />;
    default:
      return (
        <ErrorState
          title={t('This container cannot be opened')}
          message={errorText(error)}
          onRetry={onRetry}
          retrying={retrying}
        />
      );
  }
}

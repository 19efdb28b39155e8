import { useEffect, useState } from 'react';
import { isRouteErrorResponse, useRouteError } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { useReadyFlag } from '../prerender/useReadyFlag.ts';
import { Button } from '../ui/Button.tsx';
import { LazyNotFound } from './LazyNotFound.tsx';
import { MessagePage } from './MessagePage.tsx';

/** What a page that broke leaves behind: the shell stays, the page offers a reload. */
export function PageError() {
  const t = useT();
  const error = useRouteError();
  useReadyFlag();
  const missing = isMissingPart(error);
  const [reloading] = useState(() => missing && mayReload());
  useEffect(() => {
    if (reloading) window.location.reload();
    else console.error(error);
  }, [error, reloading]);
  if (isRouteErrorResponse(error) && error.status === 404) return <LazyNotFound />;
  if (reloading) return null;
  return (
    <MessagePage
      title={t('This page has stopped working')}
      action={
        <Button color="gray" onClick={() => window.location.reload()}>
          {t('Reload the page')}
        </Button>
      }
    >
      {missing
        ? t('Part of the app could not be loaded. You may have been offline, or a new version was released.')
        : t('The error is ours. Reloading usually helps; your servers and containers are not affected.')}
    </MessagePage>
  );
}

/** A part of the app that did not arrive: the network changed, or it was built anew meanwhile. */
function isMissingPart(error: unknown): boolean {
  return error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);
}

const RELOADED = 'reloadedAt';
const RELOAD_AGAIN_MS = 10_000;

/** Some browsers remember a part that failed, so that only a reload fetches it; once, lest it goes round in circles. */
function mayReload(): boolean {
  const last = Number(sessionStorage.getItem(RELOADED) ?? 0);
  if (!navigator.onLine || Date.now() - last < RELOAD_AGAIN_MS) return false;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  return true;
}

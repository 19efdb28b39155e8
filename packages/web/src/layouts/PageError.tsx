import { isRouteErrorResponse, useRouteError } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import { Message } from './Message.tsx';
import { NotFound } from './NotFound.tsx';

/** What a page that broke leaves behind: the shell stays, the page offers a reload. */
export function PageError() {
  const t = useT();
  const error = useRouteError();
  if (isRouteErrorResponse(error) && error.status === 404) return <NotFound />;
  console.error(error);
  return (
    <Message
      title={t('This page has stopped working')}
      action={
        <Button color="gray" onClick={() => window.location.reload()}>
          {t('Reload the page')}
        </Button>
      }
    >
      {isOutdated(error)
        ? t('A new version has been published since you opened the app.')
        : t('The error is ours. Reloading usually helps; your servers and containers are not affected.')}
    </Message>
  );
}

/** A part of the app that is no longer on the server: it was built anew meanwhile. */
function isOutdated(error: unknown): boolean {
  return error instanceof Error && /dynamically imported module|module script/i.test(error.message);
}

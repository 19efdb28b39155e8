import type { Language } from '@stagi/contract/languages.ts';
import { text } from '@stagi/contract/text.ts';
import { prerender } from 'react-dom/static';
import { createStaticHandler, createStaticRouter, StaticRouterProvider } from 'react-router';
import { App } from './App.tsx';
import { showLanguage, startTranslation, t } from './i18n/i18n.ts';
import { routes } from './routes.tsx';

/** The `<meta name="description">` of each page. */
const DESCRIPTIONS: Record<string, string> = {
  '/': text('Stagi: rent servers by the hour or attach your own, run containers on them, watch their logs.'),
  '/sign-in': text('Log in to Stagi: your servers, containers and their logs in one place.'),
  '/sign-up': text('Create a Stagi account: rent a server by the hour or attach your own, and run containers on it.'),
};

export interface PrerenderedPage {
  /** With the `<title>` in front. */
  markup: string;
  description: string;
}

/** Renders a page as a visitor without a session sees it. Throws when the page does. */
export async function prerenderPage(path: string, language: Language): Promise<PrerenderedPage> {
  await showLanguage(language);
  const handler = createStaticHandler(routes);
  const context = await handler.query(new Request(`http://localhost${path}`));
  if (context instanceof Response) throw new Error(`${path} answers ${context.status} instead of a page`);
  const router = createStaticRouter(handler.dataRoutes, context);
  const { prelude } = await prerender(
    <App>
      <StaticRouterProvider router={router} context={context} hydrate={false} />
    </App>,
    {
      onError: (cause) => {
        throw cause;
      },
    },
  );
  const description = DESCRIPTIONS[path];
  if (!description) throw new Error(`${path} has no description`);
  return { markup: await new Response(prelude as ReadableStream).text(), description: t(description) };
}

await startTranslation('en');

import type { Language } from '@stagi/contract/languages.ts';
import { prerender } from 'react-dom/static';
import { createStaticHandler, createStaticRouter, StaticRouterProvider } from 'react-router';
import { App } from '../App.tsx';
import { showLanguage, startTranslation } from '../i18n/i18n.ts';
import { routes } from '../routes.tsx';

/** The markup of a page as a visitor without a session sees it, its `<title>` in front. Throws when the page does. */
export async function draw(path: string, language: Language): Promise<string> {
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
  return await new Response(prelude as ReadableStream).text();
}

await startTranslation('en');

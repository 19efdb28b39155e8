import { BRAND } from '@stagi/contract/brand.ts';
import type { ModelCard } from '@stagi/contract/models.ts';
import { text } from '@stagi/contract/text.ts';
import { prerender } from 'react-dom/static';
import { createStaticHandler, createStaticRouter, matchRoutes, StaticRouterProvider } from 'react-router';
import { App } from './App.tsx';
import { queryClient } from './api/query.ts';
import { parametersText } from './features/models/modelWords.ts';
import { showLanguage, startTranslation, t } from './i18n/i18n.ts';
import type { PageHandle } from './navigation/pageHandle.ts';
import { storeAnswers } from './prerender/prerenderedAnswers.ts';
import type { Prerenderer } from './prerender/prerenderedPages.ts';
import { routes } from './routes.tsx';

/** The `<meta name="description">` of each page. */
const DESCRIPTIONS: Record<string, string> = {
  '/': text(
    'Stagi: rent GPU servers by the hour or attach your own, and run containers, tasks and open models on them. Real prices, billed to the second.',
  ),
  '/sign-in': text('Log in to Stagi: your servers, containers and their logs in one place.'),
  '/sign-up': text('Create a Stagi account: rent a server by the hour or attach your own, and run containers on it.'),
  '/models': text(
    'Open models for text, code, reasoning, images, speech and video: which GPU each fits, how fast it is there and what it costs.',
  ),
  '/contact': text(
    'Write to the people who run this platform: about a model, a demo, prices, or help. No account is needed.',
  ),
  '/blog': text('What was built here, how it was measured, and what did not work.'),
  '/tutorials': text('Whole tasks from the first command to the result, to be pasted step by step.'),
};

export const questionsOf: Prerenderer['questionsOf'] = async (address, language = 'en') => {
  await showLanguage(language);
  const { pathname, searchParams: search } = new URL(address, 'http://localhost');
  const last = matchRoutes(routes, pathname)?.at(-1);
  const { reads } = (last?.route.handle ?? {}) as Partial<PageHandle>;
  const asked = (await reads?.({ pathname, search, params: last?.params ?? {}, permissions: [] })) ?? [];
  return asked.map(({ queryKey }) => queryKey as [string, unknown]);
};

export const prerenderPage: Prerenderer['prerenderPage'] = async (path, language, answers, about) => {
  await showLanguage(language);
  queryClient.clear();
  storeAnswers(path, answers);
  const handler = createStaticHandler(routes);
  const context = await handler.query(new Request(`http://localhost${path}`));
  if (context instanceof Response) throw new Error(`${path} answers ${context.status} instead of a page`);
  const router = createStaticRouter(handler.dataRoutes, context);
  const { prelude } = await prerender(
    <App>
      <StaticRouterProvider router={router} context={context} hydrate={false} />
    </App>,
    {
      // All of a page in its place: what comes later would need inline code, which the content policy forbids.
      progressiveChunkSize: Number.POSITIVE_INFINITY,
      onError: (cause) => {
        throw cause;
      },
    },
  );
  const description =
    about.description ?? (about.model ? descriptionOf(about.model) : DESCRIPTIONS[path] && t(DESCRIPTIONS[path]));
  if (!description) throw new Error(`${path} has no description`);
  return { markup: await new Response(prelude as ReadableStream).text(), description };
};

function descriptionOf({ title, publisher, parameters }: ModelCard): string {
  return t(
    '{{title}} by {{publisher}}, {{parameters}} parameters, on {{brand}}: which GPUs it fits, how fast it is there and what a million tokens cost.',
    { title, publisher, parameters: parametersText(t, parameters), brand: BRAND },
  );
}

await startTranslation('en');

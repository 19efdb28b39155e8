import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { searchIndexAddress } from '@stagi/content/searchOptions.ts';
import { LANGUAGES, type Language } from '@stagi/contract/languages.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { blogFeed, FEED } from './feed.ts';
import { fillPlaces, written } from './written.ts';

/** What programs read of the written pages: each as Markdown, their index for language models, search, the feed. */
export function mountWrittenFiles(app: FastifyInstance, { config }: { config: Config }): void {
  const origin = config.appOrigin;
  for (const { path } of [ROUTES.docs, ROUTES.tutorials, ROUTES.blog]) app.get(`${path}/*`, markdownOrPage);
  for (const { path } of [ROUTES.docs, ROUTES.terms, ROUTES.privacy, ROUTES.aiUse])
    app.get(`${path}.md`, markdownOrPage);
  app.get('/llms.txt', async (_request, reply) => send(reply, 'text/plain', (await written()).llmsTxt(origin)));
  app.get<{ Querystring: { lang?: string } }>(ROUTES.blog.path + FEED, async ({ query }, reply) =>
    send(reply, 'application/atom+xml', blogFeed(await written(), origin, languageIn(query.lang))),
  );
  for (const language of LANGUAGES) {
    const address = searchIndexAddress(language);
    // The build has written it as a file.
    if (config.webDir && existsSync(join(config.webDir, address))) continue;
    app.get(address, async (_request, reply) =>
      send(reply, 'application/json', await (await written()).searchIndex(language)),
    );
  }

  async function markdownOrPage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { pathname, searchParams } = new URL(request.url, origin);
    if (!pathname.endsWith('.md')) {
      reply.callNotFound();
      return reply;
    }
    const language = languageIn(searchParams.get('lang'));
    const markdown = await (await written()).markdown(pathname.slice(0, -'.md'.length), language);
    if (markdown === null) {
      reply.callNotFound();
      return reply;
    }
    return send(reply, 'text/markdown', fillPlaces(markdown, config, language));
  }
}

const languageIn = (word: string | null | undefined): Language => LANGUAGES.find((one) => one === word) ?? 'en';

function send(reply: FastifyReply, type: string, body: string): FastifyReply {
  return reply.type(`${type}; charset=utf-8`).header('cache-control', 'no-cache').send(body);
}

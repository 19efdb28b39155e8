import { LANGUAGES, type Language, LOCALE } from '@stagi/contract/languages.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import type { FastifyInstance } from 'fastify';
import { readCatalogue } from '../catalogue/catalogue.ts';
import { written } from '../content/written.ts';
import { escapeXml } from '../content/xml.ts';
import type { Context } from '../context.ts';

/** What crawlers may read: pages that need an account would only lead them to the login. */
const CLOSED = ['/frontend-api/', '/daemon-api/', '/cloud', '/projects', '/profile', '/admin', '/auth/', '/consent'];

/** What search engines ask for: which pages there are, and which they may read. */
export function mountCrawlerFiles(app: FastifyInstance, ctx: Context): void {
  const origin = ctx.config.appOrigin;
  app.get('/robots.txt', (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(
        [
          'User-agent: *',
          'Allow: /',
          ...CLOSED.map((path) => `Disallow: ${path}`),
          '',
          `Sitemap: ${origin}/sitemap.xml`,
          '',
        ].join('\n'),
      ),
  );
  app.get('/sitemap.xml', async (_request, reply) => {
    const models = (await readCatalogue(ctx)).map(({ name }) => `${ROUTES.models.path}/${name}`);
    const texts = (await written()).paths();
    const known = new Set(texts.map(({ path }) => path));
    const pages = [...openPages().filter((path) => !known.has(path)), ...models];
    const entries = [...pages.map((path) => ({ path, languages: LANGUAGES, date: null })), ...texts];
    return reply
      .type('application/xml; charset=utf-8')
      .header('cache-control', 'no-cache')
      .send(sitemap(origin, entries));
  });
}

/** The pages for visitors, also those that are written texts. */
function openPages(): string[] {
  const routes: Route[] = Object.values(ROUTES);
  return routes
    .filter((route) => route.public && route.footer && route.path !== ROUTES.forbidden.path)
    .map(({ path }) => path)
    .filter((path) => !path.includes(':'));
}

interface Entry {
  path: string;
  languages: readonly Language[];
  /** Of its last change, as `2026-11-25`. */
  date: string | null;
}

/** Each page with its addresses in other languages (sitemaps.org, with Google's extension for languages). */
function sitemap(origin: string, entries: readonly Entry[]): string {
  const urls = entries.map(({ path, languages, date }) => {
    const address = escapeXml(origin + path);
    const others = languages.length < 2 ? [] : languages;
    return [
      '  <url>',
      `    <loc>${address}</loc>`,
      ...(date ? [`    <lastmod>${date}</lastmod>`] : []),
      ...others.map(
        (language) =>
          `    <xhtml:link rel="alternate" hreflang="${LOCALE[language]}" href="${address}?lang=${language}"/>`,
      ),
      '  </url>',
    ].join('\n');
  });
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">',
    ...urls,
    '</urlset>',
    '',
  ].join('\n');
}

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import fastifyStatic from '@fastify/static';
import { acceptedLanguage, LANGUAGES, type Language } from '@stagi/contract/languages.ts';
import { routeOf } from '@stagi/contract/routeOf.ts';
import { ROUTES, type Route } from '@stagi/contract/routes.ts';
import type { SiteConfiguration } from '@stagi/contract/site.ts';
import { text } from '@stagi/contract/text.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PageKind } from '../catalogue/pages.ts';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/loopback.ts';
import { publicSite } from '../config/site.ts';
import { fillPlacesOfHtml } from '../content/written.ts';
import { createHostReader, type HostReader, nameOf } from '../http/hostOf.ts';

const NOT_PAGES =
  /^\/(frontend-api|daemon-api|git|dev|assets|prerendered|oauth|\.well-known|openapi\.json|configuration\.json|healthz|readyz)(\/|$)/;
const PLACE = '<script id="configuration" type="application/json">{}</script>';

/** The name of the not-found page's code in `links.json`. */
const NOT_FOUND = '*';

/** In a prerendered page, where it names an address of this site: see `scripts/prerender.ts`. */
const ORIGIN = 'https://origin.invalid/';

interface Served {
  webDir: string;
  config: Config;
  site: Omit<SiteConfiguration, 'version'>;
  /** The origin that browsers use. */
  origin: string;
  hostOf: HostReader;
  pagesOf: readonly PageOf[];
}

/** How a page is served that does not exist for every address of its route, or whose content may change; null for others. */
export type PageOf = (pathname: string, query: URLSearchParams) => Promise<PageKind | null>;

/**
 * The built web app: hashed files for a year, the prerendered pages in the language that the browser asks for, and its
 * one page for every other address: with 404 where neither `pagesOf` nor the routes know a page. The page carries the
 * site's configuration, so that its first paint already shows it; `/configuration.json` tells open pages of a newer
 * version.
 */
export async function serveWeb(app: FastifyInstance, config: Config, pagesOf: readonly PageOf[]): Promise<void> {
  const { webDir } = config;
  const site = publicSite(config);
  const hostOf = createHostReader(config);
  const send = (request: FastifyRequest, reply: FastifyReply, webDir: string) =>
    sendPage(request, reply, { webDir, config, site, origin: config.appOrigin, hostOf, pagesOf });
  if (webDir && existsSync(join(webDir, 'index.html'))) {
    await app.register(fastifyStatic, {
      root: webDir,
      index: false,
      // The build has written compressed files beside the others.
      preCompressed: true,
      allowedPath: (path) => !path.startsWith('/prerendered/') && !path.startsWith('/.vite/'),
      setHeaders(reply, path) {
        reply.header(
          'cache-control',
          path.includes(`${webDir}/assets/`) ? 'public, max-age=31536000, immutable' : 'no-cache',
        );
      },
    });
    app.get('/', (request, reply) => send(request, reply, webDir));
    // Not a file in any case: the address of a file of code may hold a backslash, which `fastifyStatic` refuses.
    app.get('/projects/*', (request, reply) => send(request, reply, webDir));
  }
  app.get('/configuration.json', async (_request, reply) => {
    const version = webDir ? await versionOf(webDir) : '';
    return reply.header('cache-control', 'no-store').send({ version, ...site } satisfies SiteConfiguration);
  });
  app.setNotFoundHandler((request, reply) => {
    const isPage = ['GET', 'HEAD'].includes(request.method) && !NOT_PAGES.test(request.url.split('?')[0] ?? '');
    if (isPage && webDir && existsSync(join(webDir, 'index.html'))) return send(request, reply, webDir);
    return reply.status(404).send({ isSuccess: false, message: text('Not found'), requestId: request.id });
  });
}

async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { webDir, config, site, origin, hostOf, pagesOf }: Served,
): Promise<FastifyReply> {
  const [pathname = '', search] = request.url.split(/\?(.*)/s, 2);
  const query = new URLSearchParams(search);
  const language = takeLanguage(query) ?? acceptedLanguage(request.headers['accept-language']);
  const kind = await kindOf(pathname, query, pagesOf).catch((err: unknown) => {
    request.log.warn({ err }, 'a page is served without its data: it cannot be read');
    return 'plain' as const;
  });
  if (typeof kind === 'object' && kind !== null) return reply.redirect(kind.elsewhere);
  const route = routeAt(pathname, nameOf(hostOf(request.raw)));
  const isUnknown = kind === null && !route;
  if (isUnknown || kind === 'missing') reply.status(404);
  // The pages of the demo tell of things that do not exist.
  if (route === ROUTES.demo && pathname !== ROUTES.demo.path) reply.header('x-robots-tag', 'noindex');
  // A prerendered page is the answer to its bare address only, where nobody knows better: with a query it may differ.
  const isBare = query.size === 0 && !isUnknown && !differsHere(pathname, site);
  const isPrerendered = kind === null ? isBare : kind === 'prerendered' || kind === 'outdated';
  const html =
    (isPrerendered ? await prerenderedPage(language, pathname, webDir) : null) ??
    (await plainPage(route?.path, webDir));
  const configuration: SiteConfiguration = { version: await versionOf(webDir), ...site };
  // "<" could end the element, so it is escaped as JSON allows.
  const json = JSON.stringify(configuration).replaceAll('<', '\\u003c');
  const encoding = encodingFor(request);
  const text = fillPlacesOfHtml(html, config, language)
    .replace(PLACE, () => PLACE.replace('{}', () => json))
    .replaceAll(ORIGIN, () => `${origin}/`)
    .replace(' data-prerendered=', kind === 'outdated' ? ' data-outdated data-prerendered=' : '$&');
  if (encoding) reply.header('content-encoding', encoding);
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('vary', 'Accept-Language, Accept-Encoding')
    .send(encoding ? await compressed(text, encoding) : text);
}

/** The page is drawn otherwise than the build did, by the configuration of this platform. */
function differsHere(
  pathname: string,
  { signUp, isPasswordOff = false }: Pick<SiteConfiguration, 'signUp' | 'isPasswordOff'>,
): boolean {
  if (pathname === ROUTES.signIn.path) return isPasswordOff;
  return pathname === ROUTES.signUp.path && (isPasswordOff || signUp !== undefined);
}

/** By the first that knows the address. */
async function kindOf(pathname: string, query: URLSearchParams, pagesOf: readonly PageOf[]): Promise<PageKind | null> {
  for (const pageOf of pagesOf) {
    const kind = await pageOf(pathname, query);
    if (kind !== null) return kind;
  }
  return null;
}

/** The gallery of the kit exists on this machine only. */
function routeAt(pathname: string, hostname: string): Route | null {
  const route = routeOf(pathname);
  return route?.path === ROUTES.kit.path && !isLoopback(hostname) ? null : route;
}

/** The language that the address names, which is then no part of the query. */
function takeLanguage(query: URLSearchParams): Language | undefined {
  const named = query.get('lang');
  query.delete('lang');
  return LANGUAGES.find((language) => language === named);
}

const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

function encodingFor(request: FastifyRequest): Encoding | null {
  const accepted = request.headers['accept-encoding'];
  return typeof accepted === 'string' ? negotiate<Encoding>(accepted.toLowerCase(), [...ENCODINGS]) : null;
}

/** Each prerendered page in each language, twice, has about 8 MB; an app that was built anew leaves its former pages. */
const MOST_PACKED_BYTES = 32 * 1024 * 1024;
const packed = new Map<string, Promise<Buffer>>();
let packedBytes = 0;

/** A page is the same for everybody until the next build: it is compressed once. */
function compressed(text: string, encoding: Encoding): Promise<Buffer> {
  const key = encoding + createHash('sha256').update(text).digest('base64');
  const known = packed.get(key);
  if (known) return known;
  const made = pack(text, encoding);
  packed.set(key, made);
  made.then(
    ({ length }) => {
      packedBytes += length;
      if (packedBytes <= MOST_PACKED_BYTES) return;
      packed.clear();
      packedBytes = 0;
    },
    () => packed.delete(key),
  );
  return made;
}

function pack(text: string, encoding: Encoding): Promise<Buffer> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
  return encoding === 'br' ? promisify(brotliCompress)(text, { params }) : promisify(gzip)(text, { level: 9 });
}

async function prerenderedPage(language: Language, pathname: string, webDir: string): Promise<string | null> {
  const name = pathname === '/' ? 'home' : /^\/([a-z-]+(?:\/[a-z0-9][a-z0-9.-]*){0,2})\/?$/.exec(pathname)?.[1];
  if (!name) return null;
  return await readFile(join(webDir, 'prerendered', language, `${name}.html`), 'utf8').catch(() => null);
}

/** The one page of all other addresses, with links to the code that this one needs: it comes beside the app's own. */
async function plainPage(route: string | undefined, webDir: string): Promise<string> {
  // The demo is an app of its own.
  if (route === ROUTES.demo.path) return await readFile(join(webDir, 'prerendered/demo.html'), 'utf8');
  const html = await readFile(join(webDir, 'index.html'), 'utf8');
  const written = await readFile(join(webDir, 'prerendered/links.json'), 'utf8').catch(() => '{}');
  const links = (JSON.parse(written) as Record<string, string>)[route ?? NOT_FOUND];
  return links ? html.replace('</head>', () => `${links}</head>`) : html;
}

let known: { file: string; changedAt: number; version: string } | null = null;

/** Of the page's text: it names every file by its hash. Read again when the app was built anew below a running server. */
async function versionOf(webDir: string): Promise<string> {
  const file = join(webDir, 'index.html');
  const written = await stat(file).catch(() => null);
  if (!written) return '';
  if (known?.file !== file || known.changedAt !== written.mtimeMs) {
    const version = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
      .slice(0, 12);
    known = { file, changedAt: written.mtimeMs, version };
  }
  return known.version;
}

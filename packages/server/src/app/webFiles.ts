import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import fastifyStatic from '@fastify/static';
import { acceptedLanguage } from '@stagi/contract/languages.ts';
import type { SiteConfiguration } from '@stagi/contract/site.ts';
import { text } from '@stagi/contract/text.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PageKind } from '../catalogue/pages.ts';
import type { Config } from '../config/config.ts';
import { publicSite } from '../config/site.ts';

const NOT_PAGES =
  /^\/(frontend-api|daemon-api|git|dev|assets|prerendered|oauth|\.well-known|openapi\.json|configuration\.json|healthz|readyz)(\/|$)/;
const PLACE = '<script id="configuration" type="application/json">{}</script>';

/** In a prerendered page, where it names its own address: see `scripts/prerender.ts`. */
const ORIGIN = 'https://origin.invalid/';

interface Served {
  webDir: string;
  site: Omit<SiteConfiguration, 'version'>;
  /** The origin that browsers use. */
  origin: string;
  pageOf: PageOf;
}

/** How a page is served whose content operators may change; null for others. */
type PageOf = (pathname: string, query: URLSearchParams) => Promise<PageKind | null>;

/**
 * The built web app: hashed files for a year, the prerendered pages in the language that the browser asks for, and its
 * one page for every other address that is none of ours. The page carries the site's configuration, so that its first
 * paint already shows it; `/configuration.json` tells open pages of a newer version.
 */
export async function serveWeb(app: FastifyInstance, config: Config, pageOf: PageOf): Promise<void> {
  const { webDir } = config;
  const site = publicSite(config);
  const send = (request: FastifyRequest, reply: FastifyReply, webDir: string) =>
    sendPage(request, reply, { webDir, site, origin: config.appOrigin, pageOf });
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
  }
  app.get('/configuration.json', async (_request, reply) => {
    const version = webDir ? await versionOf(webDir) : '';
    return reply.header('cache-control', 'no-store').send({ version, ...site } satisfies SiteConfiguration);
  });
  app.setNotFoundHandler((request, reply) => {
    const isPage = request.method === 'GET' && !NOT_PAGES.test(request.url.split('?')[0] ?? '');
    if (isPage && webDir && existsSync(join(webDir, 'index.html'))) return send(request, reply, webDir);
    return reply.status(404).send({ isSuccess: false, message: text('Not found'), requestId: request.id });
  });
}

async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { webDir, site, origin, pageOf }: Served,
): Promise<FastifyReply> {
  const [pathname = '', query] = request.url.split(/\?(.*)/s, 2);
  const kind = await pageOf(pathname, new URLSearchParams(query)).catch((err: unknown) => {
    request.log.warn({ err }, 'a page is served without its data: the catalogue cannot be read');
    return 'plain' as const;
  });
  if (typeof kind === 'object' && kind !== null) return reply.redirect(kind.elsewhere);
  if (kind === 'missing') reply.status(404);
  // A prerendered page is the answer to its bare address only, where nobody knows better: with a query it may differ.
  const isPrerendered = kind === null ? query === undefined : kind === 'prerendered';
  const html =
    (isPrerendered ? await prerenderedPage(request, pathname, webDir) : null) ?? (await plainPage(pathname, webDir));
  const configuration: SiteConfiguration = { version: await versionOf(webDir), ...site };
  // "<" could end the element, so it is escaped as JSON allows.
  const json = JSON.stringify(configuration).replaceAll('<', '\\u003c');
  const encoding = encodingFor(request);
  const text = html.replace(PLACE, () => PLACE.replace('{}', () => json)).replace(ORIGIN, () => `${origin}/`);
  if (encoding) reply.header('content-encoding', encoding);
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('vary', 'Accept-Language, Accept-Encoding')
    .send(encoding ? await compressed(text, encoding) : text);
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

async function prerenderedPage(request: FastifyRequest, pathname: string, webDir: string): Promise<string | null> {
  const name = pathname === '/' ? 'home' : /^\/([a-z-]+(?:\/[a-z0-9][a-z0-9.-]*)?)$/.exec(pathname)?.[1];
  if (!name) return null;
  const language = acceptedLanguage(request.headers['accept-language']);
  return await readFile(join(webDir, 'prerendered', language, `${name}.html`), 'utf8').catch(() => null);
}

/** The one page of all other addresses, with links to the code that this one needs: it comes beside the app's own. */
async function plainPage(path: string, webDir: string): Promise<string> {
  const html = await readFile(join(webDir, 'index.html'), 'utf8');
  const written = await readFile(join(webDir, 'prerendered/links.json'), 'utf8').catch(() => '{}');
  const found = Object.entries(JSON.parse(written) as Record<string, string>).find(([route]) =>
    matchesRoute(route, path),
  );
  return found ? html.replace('</head>', () => `${found[1]}</head>`) : html;
}

/** Whether an address is of a route, or of a tab of the thing that it is about. */
function matchesRoute(route: string, path: string): boolean {
  if (!route.includes('/:id')) return route === path;
  const id = path.slice(route.length - ':id'.length);
  return path.startsWith(route.slice(0, -':id'.length)) && /^\d+(\/[a-z]+)?$/.test(id);
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

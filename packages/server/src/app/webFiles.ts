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

const NOT_PAGES =
  /^\/(frontend-api|daemon-api|git|dev|assets|prerendered|oauth|\.well-known|openapi\.json|configuration\.json|healthz|readyz)(\/|$)/;
const PLACE = '<script id="configuration" type="application/json">{}</script>';

type Site = Omit<SiteConfiguration, 'version'>;

/**
 * The built web app: hashed files for a year, the prerendered pages in the language that the browser asks for,
 * and its one page for every other address that is none of ours. The page carries the site's configuration, so
 * that its first paint already shows it; `/configuration.json` tells open pages of a newer version.
 */
export async function serveWeb(app: FastifyInstance, webDir: string | null, site: Site): Promise<void> {
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
    app.get('/', (request, reply) => sendPage(request, reply, webDir, site));
  }
  app.get('/configuration.json', async (_request, reply) => {
    const version = webDir ? await versionOf(webDir) : '';
    return reply.header('cache-control', 'no-store').send({ version, ...site } satisfies SiteConfiguration);
  });
  app.setNotFoundHandler((request, reply) => {
    const isPage = request.method === 'GET' && !NOT_PAGES.test(request.url.split('?')[0] ?? '');
    if (isPage && webDir && existsSync(join(webDir, 'index.html'))) return sendPage(request, reply, webDir, site);
    return reply.status(404).send({ isSuccess: false, message: text('Not found'), requestId: request.id });
  });
}

async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  webDir: string,
  site: Site,
): Promise<FastifyReply> {
  const html = (await prerenderedPage(request, webDir)) ?? (await plainPage(request, webDir));
  const configuration: SiteConfiguration = { version: await versionOf(webDir), ...site };
  // "<" could end the element, so it is escaped as JSON allows.
  const json = JSON.stringify(configuration).replaceAll('<', '\\u003c');
  const encoding = encodingFor(request);
  const text = html.replace(PLACE, () => PLACE.replace('{}', () => json));
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

/** Each prerendered page in each language, twice; an app that was built anew leaves its former pages behind once. */
const MOST_PACKED = 64;
const packed = new Map<string, Promise<Buffer>>();

/** A page is the same for everybody until the next build: it is compressed once. */
function compressed(text: string, encoding: Encoding): Promise<Buffer> {
  const key = encoding + text;
  const known = packed.get(key);
  if (known) return known;
  if (packed.size >= MOST_PACKED) packed.clear();
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
  const made = encoding === 'br' ? promisify(brotliCompress)(text, { params }) : promisify(gzip)(text, { level: 9 });
  packed.set(key, made);
  return made;
}

/** A prerendered page is the answer to its bare address only: with a query the page may differ. */
async function prerenderedPage(request: FastifyRequest, webDir: string): Promise<string | null> {
  const name = request.url === '/' ? 'home' : /^\/([a-z-]+)$/.exec(request.url)?.[1];
  if (!name) return null;
  const language = acceptedLanguage(request.headers['accept-language']);
  return await readFile(join(webDir, 'prerendered', language, `${name}.html`), 'utf8').catch(() => null);
}

/** The one page of all other addresses, with links to the code that this one needs: it comes beside the app's own. */
async function plainPage(request: FastifyRequest, webDir: string): Promise<string> {
  const html = await readFile(join(webDir, 'index.html'), 'utf8');
  const written = await readFile(join(webDir, 'prerendered/links.json'), 'utf8').catch(() => '{}');
  const [path = ''] = request.url.split('?');
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

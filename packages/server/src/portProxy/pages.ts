import type { IncomingMessage } from 'node:http';
import { BRAND } from '@stagi/contract/brand.ts';
import { acceptedLanguage, LOCALE } from '@stagi/contract/languages.ts';
import { opensPage } from '../containerAccess/navigation.ts';
import { isOverload, PublicError } from '../http/errors.ts';
import { AGENT_TOO_OLD, HELD_ELSEWHERE, StreamRefused } from '../nodes/streamHub.ts';
import { type PortRefusal, STATUS, WORDS } from './words.ts';

/** A request is answered by the platform in place of the container. */
export class RefusedPort extends Error {
  readonly kind: PortRefusal;
  readonly retryAfter: number | null;
  constructor(kind: PortRefusal, { retryAfter = null, cause }: { retryAfter?: number | null; cause?: unknown } = {}) {
    super(kind, { cause });
    this.kind = kind;
    this.retryAfter = retryAfter;
  }
}

export function refusedPort(error: unknown): RefusedPort {
  if (error instanceof RefusedPort) return error;
  if (error instanceof StreamRefused) return new RefusedPort(kindOfRefusal(error), { cause: error });
  if (isOverload(error)) return new RefusedPort('unavailable', { retryAfter: 2, cause: error });
  if (!(error instanceof PublicError)) return new RefusedPort('unavailable', { cause: error });
  const { retryAfter } = error;
  if (error.body.code === 'held') return new RefusedPort('held', { retryAfter });
  switch (error.status) {
    case 401:
      return new RefusedPort('signIn');
    case 403:
      return new RefusedPort('forbidden');
    case 429:
      return new RefusedPort('busy', { retryAfter });
    case 503:
      return new RefusedPort('unavailable', { retryAfter, cause: error });
    default:
      return new RefusedPort('notFound');
  }
}

/** What a daemon's refusal of a stream means for the visitor. */
function kindOfRefusal({ status, message }: StreamRefused): PortRefusal {
  if (message === AGENT_TOO_OLD) return 'outdated';
  if (message === HELD_ELSEWHERE) return 'heldElsewhere';
  if (status === 404 || status === 409) return 'silent';
  return status === 429 ? 'busy' : 'away';
}

export interface PortPage {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A plain page for browsers, JSON or a line of text for programs. */
export function portPage(
  { kind, retryAfter }: RefusedPort,
  request: Pick<IncomingMessage, 'method' | 'headers'>,
): PortPage {
  const language = acceptedLanguage(request.headers['accept-language']);
  const [title, explanation] = WORDS[language][kind];
  const { method = 'GET', headers } = request;
  const isPage = opensPage({ method, headers });
  const isJson = !isPage && (headers.accept ?? '').includes('json');
  return {
    status: STATUS[kind],
    headers: {
      'content-type': `${isPage ? 'text/html' : isJson ? 'application/json' : 'text/plain'}; charset=utf-8`,
      'content-language': LOCALE[language],
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; base-uri 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
      ...(kind === 'signIn' ? { 'www-authenticate': 'Bearer' } : {}),
      ...(retryAfter === null ? {} : { 'retry-after': String(retryAfter) }),
    },
    body: isPage
      ? html(LOCALE[language], title, explanation)
      : isJson
        ? JSON.stringify({ isSuccess: false, message: `${title}. ${explanation}` })
        : `${title}. ${explanation}\n`,
  };
}

/** All words are the platform's own: nothing of the request is in it. */
function html(language: string, title: string, explanation: string): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${BRAND}</title>
<style>
body { display: grid; min-height: 100vh; margin: 0; place-items: center; background: light-dark(#f7f7fa, #101014); color: light-dark(#17171c, #ececf1); font: 16px/24px Inter, system-ui, sans-serif; }
main { box-sizing: border-box; max-width: 520px; padding: 24px; }
h1 { margin: 0 0 8px; font-size: 20px; font-weight: 600; line-height: 28px; }
p { margin: 0; color: light-dark(#5b5b66, #a5a5b1); }
small { display: block; margin-top: 24px; color: light-dark(#6b6b76, #9595a1); font-size: 13px; }
</style>
</head>
<body><main><h1>${title}</h1><p>${explanation}</p><small>${BRAND}</small></main></body>
</html>
`;
}

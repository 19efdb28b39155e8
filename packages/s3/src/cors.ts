import type { CorsRule, S3Backend } from './backend.ts';
import { ALGORITHMS, checksumHeader } from './checksums.ts';
import { S3Error } from './errors.ts';
import type { S3Request } from './request.ts';

const METHODS = 'GET, HEAD, PUT, POST, DELETE';
/** As S3 has it: a preflight bears no signature, and each header is held against each pattern. */
const MAX_HEADERS = 100;
const PREFLIGHT_SECONDS = 3_600;
const EXPOSED = [
  'ETag',
  'Content-Range',
  'Content-Length',
  'Accept-Ranges',
  'Last-Modified',
  'Retry-After',
  'x-amz-request-id',
  ...ALGORITHMS.map(checksumHeader),
].join(', ');

interface CorsSettings {
  backend: Pick<S3Backend, 'findBucket'>;
  /** Of the platform's own web app: any bucket, any header. */
  allowedOrigins: readonly string[];
}

/** Headers that let a page of another origin read the answer; none for an origin that nobody allowed. */
export async function corsHeaders(request: S3Request, settings: CorsSettings): Promise<Record<string, string>> {
  const origin = request.headers.get('origin');
  if (origin === null) return {};
  if (settings.allowedOrigins.includes(origin)) return { ...allowed(origin), 'access-control-expose-headers': EXPOSED };
  const rule = await ruleFor(request, settings, origin, request.method, []);
  return rule ? headersOf(rule, origin) : {};
}

/** The answer to a preflight, which bears no signature. Throws CORSForbidden. */
export async function preflight(request: S3Request, settings: CorsSettings): Promise<Record<string, string>> {
  const { headers } = request;
  const origin = headers.get('origin');
  const method = headers.get('access-control-request-method');
  if (origin === null || method === null)
    throw new S3Error('InvalidRequest', 'Insufficient information. Origin request header needed.');
  const wanted = (headers.get('access-control-request-headers') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  const allowedHeaders: Record<string, string> =
    wanted.length > 0 ? { 'access-control-allow-headers': wanted.join(', ') } : {};
  if (settings.allowedOrigins.includes(origin))
    return {
      ...allowed(origin),
      ...allowedHeaders,
      'access-control-allow-methods': METHODS,
      'access-control-max-age': String(PREFLIGHT_SECONDS),
    };
  if (wanted.length > MAX_HEADERS) throw new S3Error('CORSForbidden');
  const rule = await ruleFor(request, settings, origin, method, wanted);
  if (!rule) throw new S3Error('CORSForbidden');
  return { ...headersOf(rule, origin), ...allowedHeaders };
}

async function ruleFor(
  { bucket }: S3Request,
  { backend }: CorsSettings,
  origin: string,
  method: string,
  headers: readonly string[],
): Promise<CorsRule | undefined> {
  const found = bucket === null ? null : await backend.findBucket(bucket);
  return found?.cors.find(
    (rule) =>
      rule.allowedOrigins.some((pattern) => fitOf(pattern)(origin)) &&
      rule.allowedMethods.includes(method) &&
      allowsHeaders(rule, headers),
  );
}

function allowsHeaders({ allowedHeaders }: CorsRule, headers: readonly string[]): boolean {
  if (headers.length === 0) return true;
  const patterns = allowedHeaders.map((pattern) => pattern.toLowerCase());
  const names = new Set(patterns);
  const wildcards = patterns.filter((pattern) => pattern.includes('*')).map(fitOf);
  return headers.every((header) => names.has(header) || wildcards.some((fits) => fits(header)));
}

/** A pattern has at most one `*`. */
function fitOf(pattern: string): (text: string) => boolean {
  const [start = '', end] = pattern.split('*');
  if (end === undefined) return (text) => pattern === text;
  return (text) => text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end);
}

function headersOf(rule: CorsRule, origin: string): Record<string, string> {
  return {
    ...allowed(rule.allowedOrigins.includes('*') ? '*' : origin),
    'access-control-allow-methods': rule.allowedMethods.join(', '),
    ...(rule.exposeHeaders.length > 0 && { 'access-control-expose-headers': rule.exposeHeaders.join(', ') }),
    ...(rule.maxAgeSeconds !== undefined && { 'access-control-max-age': String(rule.maxAgeSeconds) }),
  };
}

const allowed = (origin: string): Record<string, string> => ({
  'access-control-allow-origin': origin,
  vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
});

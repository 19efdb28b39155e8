import { type ErrorBody, GENERIC_ERROR, HELD } from '@stagi/contract/errors.ts';
import { isPlainMessage } from '@stagi/contract/plainMessages.ts';
import { text } from '@stagi/contract/text.ts';
import { type Wait, waitOf } from '@stagi/contract/waits.ts';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import pg from 'pg';
import type { z } from 'zod';
import { createRareLog } from './rareLog.ts';
import { logRefusedRequest } from './refusalLog.ts';

type Values = Record<string, string | number>;

/** An error whose message the user may read. `{{name}}` in the text is filled from `values`. */
export class PublicError extends Error {
  readonly status: number;
  readonly body: ErrorBody;
  readonly retryAfter: number | null;
  constructor(
    status: number,
    template: string,
    extra: {
      fieldsWithError?: string[];
      fieldMessages?: Record<string, string>;
      code?: ErrorBody['code'];
      values?: Values;
      retryAfter?: number;
      cause?: unknown;
    } = {},
  ) {
    const { values, retryAfter, cause, ...fields } = extra;
    const message = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(values?.[name] ?? ''));
    super(message, { cause });
    this.name = 'PublicError';
    this.status = status;
    this.retryAfter = retryAfter ?? null;
    this.body = { isSuccess: false, message, ...fields, ...(values ? { template, values } : {}) };
  }
}

/** A form field is refused: 400, shown under the field. */
export const invalid = (message: string, field: string | string[], values?: Values): PublicError =>
  new PublicError(400, message, { fieldsWithError: Array.isArray(field) ? field : [field], values });

/** A refusal not caused by a field (capacity, quota, balance, state): 200 with isSuccess false, shown as a toast. */
export const refused = (message: string, values?: Values): PublicError => new PublicError(200, message, { values });

export const unauthenticated = (): PublicError => new PublicError(401, text('Please log in'));
export const forbidden = (): PublicError => new PublicError(403, text('You do not have the permission for this'));
export const forbiddenToTokens = (): PublicError => new PublicError(403, text('This cannot be done with an API token'));
/** The call requires a step-up. */
export const stepUpNeeded = (): PublicError => new PublicError(403, text('Confirm it’s you'), { code: 'step-up' });
/** The same for what does not exist and what is somebody else's. */
export const notFound = (): PublicError => new PublicError(404, text('Not found'));
export const workspaceGone = (): PublicError =>
  new PublicError(404, text('This workspace cannot be found'), { fieldsWithError: ['X-Client-ID'] });
export const conflict = (message: string): PublicError => new PublicError(409, message);
/** The message for somebody who has tried too often. */
const TOO_MANY_ATTEMPTS: Record<Wait['unit'], string> = {
  second: text('Too many attempts. Try again in {{seconds}} s.'),
  minute: text('Too many attempts. Try again in {{minutes}} min.'),
  hour: text('Too many attempts. Try again in {{hours}} h.'),
};
export function tooManyRequests(seconds: number): PublicError {
  const { unit, count } = waitOf(seconds);
  return new PublicError(429, TOO_MANY_ATTEMPTS[unit], { values: { [`${unit}s`]: count }, retryAfter: seconds });
}
/** One caller has too many requests in progress; the next try may come after so many seconds. */
export const tooManyConcurrent = (seconds: number): PublicError =>
  new PublicError(429, text('Too many requests at once'), { retryAfter: seconds });
export const restarting = (): PublicError =>
  new PublicError(503, text('The platform is restarting'), { retryAfter: 1 });
export const unavailable = (cause?: unknown): PublicError =>
  new PublicError(503, text('The service is busy. Try again in a moment.'), { retryAfter: 2, cause });

const HELD_RETRY_SECONDS = 60;
/** The platform was restored from a backup, and no operator has released it yet. */
export const held = (): PublicError => new PublicError(503, HELD, { code: 'held', retryAfter: HELD_RETRY_SECONDS });

/** Refuses a body that does not fit its schema, with a message for each field. */
export function badInput(error: z.ZodError): PublicError {
  const fieldMessages: Record<string, string> = {};
  for (const issue of flatten(error.issues)) fieldMessages[issue.path.join('.')] ??= issue.message;
  const message = Object.values(fieldMessages)[0] ?? text('The request is not valid');
  const fieldsWithError = Object.keys(fieldMessages).filter(
    (field) => field !== '' && fieldMessages[field] === message,
  );
  return new PublicError(400, message, { fieldsWithError, fieldMessages });
}

/** Issues of a union without a message of its own are those of its first branch: the message a form can use. */
function flatten(issues: readonly z.core.$ZodIssue[]): { path: PropertyKey[]; message: string }[] {
  return issues.flatMap((issue) =>
    issue.code === 'invalid_union' && issue.errors[0] && isPlainMessage(issue)
      ? flatten(issue.errors[0]).map((inner) => ({ path: [...issue.path, ...inner.path], message: inner.message }))
      : [{ path: issue.path, message: issue.message }],
  );
}

/** The only place where an exception becomes a reply. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = translate(error, request, reply);
  if (known.status === 503)
    rarely((likeIt) =>
      request.log.warn({ err: error, call: request.routeOptions.url, likeIt }, 'call refused for now'),
    );
  else if (known.status >= 500 && known.body.status !== 499)
    request.log.error({ err: error, call: request.routeOptions.url }, 'call failed');
  else if (known.status < 500) logRefusedRequest(request, { status: known.status, reason: reasonOf(known) });
  if (known.retryAfter !== null) void reply.header('retry-after', String(known.retryAfter));
  // For an address that cannot be read no hook has run.
  if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store');
  void reply.status(known.status).send({ ...known.body, requestId: request.id });
}

/** Without what the caller sent: messages about fields may quote it. */
const reasonOf = ({ body }: PublicError): string =>
  body.fieldMessages ? 'the input is not valid' : (body.template ?? body.message);

/** In an outage every call fails alike. */
const rarely = createRareLog(1_000);

/** The client has left, and that ended the call. */
const isGone = (error: unknown, request: FastifyRequest, reply: FastifyReply): boolean =>
  (request.raw.destroyed && !request.raw.complete) ||
  (reply.raw.destroyed && error instanceof Error && error.name === 'AbortError');

function translate(error: unknown, request: FastifyRequest, reply: FastifyReply): PublicError {
  if (error instanceof PublicError) return error;
  if (isGone(error, request, reply)) {
    const aborted = new PublicError(500, text('The client closed the request'), { cause: error });
    aborted.body.status = 499;
    return aborted;
  }
  if (isOverload(error)) return unavailable(error);
  if (isUnstorableValue(error)) return new PublicError(400, text('The request is not valid'), { cause: error });
  const { statusCode: status, code } = (error ?? {}) as Partial<FastifyError>;
  if (code === 'FST_ERR_HANDLER_TIMEOUT') return unavailable(error);
  if (status === 413) return new PublicError(400, text('The request is too large'), { cause: error });
  if (status !== undefined && status >= 400 && status < 500) {
    return new PublicError(status, status === 415 ? text('The body must be JSON') : text('The request is not valid'), {
      cause: error,
    });
  }
  return new PublicError(500, GENERIC_ERROR, { cause: error });
}

/** What PostgreSQL cannot store: NUL in a text, half a surrogate pair in JSON, a date in the year 0. */
export function isUnstorableValue(error: unknown): boolean {
  return error instanceof pg.DatabaseError && ['22021', '22P05', '22008'].includes(error.code ?? '');
}

/** PostgreSQL: out of disk, memory or connections; a timeout; shutting down or unreachable; a deadlock or a lost race. */
const OVERLOAD_SQLSTATES = new Set([
  '53100',
  '53200',
  '53300',
  '53400',
  '57014',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '58030',
  '55P03',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '25P03',
  '40001',
  '40P01',
]);
const OVERLOAD_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOSPC',
]);
const OVERLOAD_MESSAGES =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout/;

/** The database is unreachable, full or too slow: a retry may succeed. */
export function isOverload(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return OVERLOAD_SQLSTATES.has(error.code ?? '') || isDiskFull(error);
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code && OVERLOAD_CODES.has(code)) return true;
  // A missing socket means that its server is not running.
  if (code === 'ENOENT' && syscall === 'connect') return true;
  return OVERLOAD_MESSAGES.test(error.message) || isOverload(error.cause);
}

/** PostgreSQL could not write its own files: the code is the file system's, so the message decides. */
function isDiskFull(error: pg.DatabaseError): boolean {
  return (error.code === 'XX000' || error.code === '58P01') && /No space left on device/.test(error.message);
}

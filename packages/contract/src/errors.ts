import { text } from './text.ts';
/** The body of every error, whatever its HTTP status. */
export interface ErrorBody {
  isSuccess: false;
  message: string;
  /** The fields that get `message` as their error. */
  fieldsWithError?: string[] | undefined;
  /** A message for each refused field, where they differ. */
  fieldMessages?: Record<string, string> | undefined;
  /** `message` before its values were filled in, for translation: `'{{title}} is in use'`. */
  template?: string | undefined;
  values?: Record<string, string | number> | undefined;
  /**
   * `step-up`, with 403: the same call succeeds once `auth/step-up` has been made in this session. `held`, with 503: the
   * platform was restored from a backup and changes nothing until an operator releases it. `mail`, with 503: the platform
   * cannot mail a code now.
   */
  code?: 'step-up' | 'held' | 'mail' | undefined;
  /** 499 when the caller closed the connection. */
  status?: number | undefined;
  requestId?: string | undefined;
}

/** Whether an answer is an error of this API; checked without zod, so that a first page needs no schemas. */
export function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false;
  const { isSuccess, message, fieldsWithError, fieldMessages, values, status } = body as Record<string, unknown>;
  return (
    isSuccess === false &&
    typeof message === 'string' &&
    (fieldsWithError === undefined || isListOfText(fieldsWithError)) &&
    (fieldMessages === undefined || isListOfText(Object.values(Object(fieldMessages)))) &&
    (values === undefined || typeof values === 'object') &&
    (status === undefined || typeof status === 'number')
  );
}

const isListOfText = (value: unknown) => Array.isArray(value) && value.every((entry) => typeof entry === 'string');

/** A platform that was restored from a backup says it in place of everything that it does not do yet. */
export const HELD = text(
  'This platform was restored from a backup and is held: nothing can be changed until an operator releases it',
);

export const GENERIC_ERROR = text('Something goes wrong. Try again!');

/** A failed call, thrown by the typed client. */
export class CallError extends Error {
  /** HTTP status; 200 for a refusal that is not about a field; 0 when no answer came. */
  readonly status: number;
  readonly body: ErrorBody | null;
  /** Seconds, from Retry-After. */
  readonly retryAfter: number | null;
  /** The path of the call. */
  readonly path: string | null;

  constructor(
    status: number,
    body: ErrorBody | null,
    retryAfter: number | null,
    { path = null, ...options }: { cause?: unknown; path?: string | null } = {},
  ) {
    super(body?.message ?? defaultMessage(status), options);
    this.name = 'CallError';
    this.status = status;
    this.body = body;
    this.retryAfter = retryAfter;
    this.path = path;
  }
}

/** The message for a status without a body: no answer came, or a proxy answered. */
function defaultMessage(status: number): string {
  if (status === 0) return text('The server cannot be reached');
  if (status === 429) return text('Too many requests at once');
  return [502, 503, 504].includes(status) ? text('The service is temporarily unavailable') : GENERIC_ERROR;
}

/** The error under each field: `fieldMessages` where given, else `message` under each of `fieldsWithError`. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof CallError) || !error.body) return {};
  const { fieldMessages, fieldsWithError, message } = error.body;
  if (fieldMessages) return fieldMessages;
  return Object.fromEntries((fieldsWithError ?? []).map((field) => [field, message]));
}

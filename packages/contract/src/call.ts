import type { z } from 'zod';
import type { Permission } from './permissions.ts';

/**
 * Who may make a call. `public`: anybody. `signed-in`: any session, no workspace needed.
 * `member`: a session and the caller's workspace in X-Client-ID. A list: a member with any of these permissions.
 */
export type Access = 'public' | 'signed-in' | 'member' | readonly [Permission, ...Permission[]];

export interface Call<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  /** Below `/frontend-api/`, without a leading slash. */
  readonly path: string;
  readonly auth: Access;
  readonly input: Input;
  readonly output: Output;
  /** One sentence for the API description. */
  readonly summary: string;
  /**
   * Whether an API token may make it too. By default a call requires a session: a token may leak from a repository or a
   * build server, so it is never allowed for identity, members, invites, roles, or outgoing money.
   */
  readonly byToken?: true;
  /** Whether an authorized app may make it where an API token may not: an app must be able to identify its user. */
  readonly byApp?: true;
  /** Requires step-up authentication within the last minutes (`auth/step-up`). */
  readonly stepUp?: true;
  /** The largest request body in bytes, where it is not `BODY_LIMIT`. */
  readonly bodyLimit?: number;
  /** The answer is a stream of this type, of lines that `output` describes; a refusal is an ordinary one. */
  readonly streamed?: 'application/x-ndjson';
}

export const BODY_LIMIT = 1024 * 1024;

export function call<Input extends z.ZodType, Output extends z.ZodType>(
  definition: Call<Input, Output>,
): Call<Input, Output> {
  return definition;
}

/** The input as a caller writes it; defaults may be omitted. */
export type InputOf<C extends Call> = z.input<C['input']>;
/** The input as a handler receives it: trimmed, with defaults. */
export type ParsedInputOf<C extends Call> = z.output<C['input']>;
export type OutputOf<C extends Call> = z.output<C['output']>;

const NAMES_WITH_KEY = new Set([
  'create',
  'rent',
  'rerun',
  'add',
  'add-credit',
  'generate',
  'activate',
  'clone',
  'deploy',
]);

/** Whether a call requires an `Idempotency-Key`: it creates something, and is no `auth/` call. */
export function needsIdempotencyKey(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return NAMES_WITH_KEY.has(name) && !path.startsWith('auth/');
}

export const API_PREFIX = '/frontend-api/';

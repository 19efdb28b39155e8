import type { z } from 'zod';
import type { Permission } from './permissions.ts';

/**
 * Who may make a call. `public`: anybody. `signed-in`: any session, no workspace needed.
 * `member`: a session and a workspace of one's own in X-Client-ID. A list: a member who holds any one of them.
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
   * Whether an API token may make it too. Unless it says so a call asks for a session: a token may lie in a repository
   * or on a build server, and is never for identity, members, invites, roles, or money that leaves.
   */
  readonly byToken?: true;
  /** Whether an app that its user has let in may make it, where an API token may not: it has to know whom it works for. */
  readonly byApp?: true;
  /** Whoever makes it must have shown within the last minutes that it is them (`auth/step-up`). */
  readonly stepUp?: true;
  /** The largest request body in bytes, where it is not `BODY_LIMIT`. */
  readonly bodyLimit?: number;
}

export const BODY_LIMIT = 1024 * 1024;

export function call<Input extends z.ZodType, Output extends z.ZodType>(
  definition: Call<Input, Output>,
): Call<Input, Output> {
  return definition;
}

/** What a caller writes; defaults may be left out. */
export type InputOf<C extends Call> = z.input<C['input']>;
/** What a handler receives: trimmed, with defaults. */
export type ParsedInputOf<C extends Call> = z.output<C['input']>;
export type OutputOf<C extends Call> = z.output<C['output']>;

const NAMES_WITH_KEY = new Set(['create', 'rent', 'add', 'generate', 'activate', 'clone', 'deploy']);

/** Whether a call must carry an `Idempotency-Key`: it makes something, and is no `auth/` call. */
export function needsIdempotencyKey(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return NAMES_WITH_KEY.has(name) && !path.startsWith('auth/');
}

export const API_PREFIX = '/frontend-api/';

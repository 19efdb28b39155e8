import type { Call, InputOf, OutputOf } from './call.ts';
import { needsIdempotencyKey } from './call.ts';
import { CallError, type ErrorBody, GENERIC_ERROR, isErrorBody } from './errors.ts';
import { randomId } from './randomId.ts';

export interface Reply {
  status: number;
  body: unknown;
  /** Seconds, from the Retry-After header. */
  retryAfter?: number | null;
}

/** Sends one POST. Rejects only when no answer came (network, abort). */
export type Send = (
  path: string,
  body: unknown,
  options: { headers: Record<string, string>; signal?: AbortSignal },
) => Promise<Reply>;

export interface Tokens {
  accessToken: string;
  refreshToken: string;
}

export interface ClientOptions {
  send: Send;
  session: {
    get(): Tokens | null;
    set(tokens: Tokens): void;
    /** Runs `refresh` under a lock that all tabs share; the default runs it at once. */
    withRefreshLock?<T>(refresh: () => Promise<T>): Promise<T>;
  };
  clientId(): number | null;
  /** Loads the schemas of a call, for a table that has only names; the default takes the call as it is. */
  loadSchemas?<C extends Call>(call: C): Promise<C>;
  /** Callbacks about failed calls. For a `quiet` call only `signedOut` and `workspaceGone` are called. */
  on?: Partial<{
    signedOut(): void;
    forbidden(): void;
    notFound(): void;
    /** Asks for step-up authentication; returns whether it succeeded: the call is then sent again. */
    stepUp(): Promise<boolean>;
    /** The user is no longer a member of the workspace in X-Client-ID. */
    workspaceGone(quiet: boolean): void;
    /** `path` is that of the call that failed. */
    message(text: string, body: ErrorBody | null, retryAfter: number | null, path: string | null): void;
  }>;
}

export interface CallOptions {
  /** A background call: it causes no navigation and no toast. */
  quiet?: boolean;
  signal?: AbortSignal;
  /** The same for the first request and its retries; a new one by default. */
  idempotencyKey?: string;
  /** The caller itself shows refusals with status 200. */
  handlesMessages?: boolean;
}

export type Client = <C extends Call>(call: C, input: InputOf<C>, options?: CallOptions) => Promise<OutputOf<C>>;

const REFRESH = 'auth/exchange-refresh-token';
const LOGOUT = 'logout';

/**
 * The typed client. Resolves with the validated answer or throws `CallError`. A 401 starts one
 * refresh; other calls that get a 401 wait for it and are retried. When the refresh fails, or
 * refresh or logout themselves answer 401, the session has ended.
 */
export function createClient({
  send,
  session,
  clientId,
  loadSchemas: whole = withSchemas,
  on = {},
}: ClientOptions): Client {
  let refreshing: Promise<boolean> | null = null;

  return async (call, input, options = {}) => {
    const schemas = whole(call);
    // Awaited only after the answer; the empty handler prevents an unhandled rejection before that.
    schemas.catch(() => {});
    const key = options.idempotencyKey ?? (needsIdempotencyKey(call.path) ? randomId() : undefined);
    let used = session.get()?.accessToken ?? null;
    let reply = await sendOnce(used);

    if (reply.status === 401 && (call.path === REFRESH || call.path === LOGOUT)) {
      on.signedOut?.();
    } else if (reply.status === 401 && call.auth !== 'public') {
      if (await refreshTokens()) {
        used = session.get()?.accessToken ?? null;
        reply = await sendOnce(used);
      }
      if (reply.status === 401) on.signedOut?.();
    }
    if (requiresStepUp(reply) && !options.quiet && (await on.stepUp?.())) {
      used = session.get()?.accessToken ?? null;
      reply = await sendOnce(used);
    }
    return await parseReply(reply);

    async function refreshTokens(): Promise<boolean> {
      try {
        return await refreshOnce(used);
      } catch (error) {
        if (error instanceof CallError && !options.quiet) report(error);
        throw error;
      }
    }

    async function sendOnce(accessToken: string | null): Promise<Reply> {
      const headers: Record<string, string> = {};
      const client = clientId();
      if (accessToken) headers.authorization = `Bearer ${accessToken}`;
      if (client !== null) headers['x-client-id'] = String(client);
      if (key) headers['idempotency-key'] = key;
      try {
        return await send(call.path, input, { headers, signal: options.signal });
      } catch (cause) {
        if (options.signal?.aborted) throw new CallError(499, null, null, { cause, path: call.path });
        const error = new CallError(0, null, null, { cause, path: call.path });
        if (!options.quiet) report(error);
        throw error;
      }
    }

    /** Schemas that cannot be loaded count as no answer. */
    async function loadedSchemas(): Promise<typeof call> {
      try {
        return await schemas;
      } catch (cause) {
        const error = new CallError(0, null, null, { cause, path: call.path });
        if (!options.quiet) report(error);
        throw error;
      }
    }

    async function parseReply(answer: Reply): Promise<OutputOf<typeof call>> {
      const body = errorBodyOf(answer);
      if (answer.status < 200 || answer.status >= 300) {
        const error = new CallError(answer.status, body, answer.retryAfter ?? null, { path: call.path });
        if (isWorkspaceGone(error)) on.workspaceGone?.(options.quiet === true);
        else if (!options.quiet) report(error);
        throw error;
      }
      const output = body ? null : (await loadedSchemas()).output.safeParse(answer.body);
      if (output?.success) return output.data as OutputOf<typeof call>;
      // A refusal, or an answer that this version of the contract does not know.
      const error = new CallError(answer.status, body, null, { cause: output?.error, path: call.path });
      if (!options.quiet && !options.handlesMessages) on.message?.(error.message, body, null, call.path);
      throw error;
    }
  };

  function report(error: CallError): void {
    const { body } = error;
    switch (error.status) {
      case 400:
      case 401:
        return;
      case 403:
        // A declined step-up does not navigate.
        if (body?.code !== 'step-up' || !on.stepUp) on.forbidden?.();
        return;
      case 404:
        on.notFound?.();
        return;
      case 500:
        if (body?.status !== 499) on.message?.(GENERIC_ERROR, null, null, error.path);
        return;
      default:
        on.message?.(error.message, body, error.retryAfter, error.path);
    }
  }

  /** Whether there are tokens newer than `used`; refreshes them if necessary, once for concurrent calls. */
  async function refreshOnce(used: string | null): Promise<boolean> {
    refreshing ??= (session.withRefreshLock ?? ((run) => run()))(() => refresh(used)).finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  async function refresh(used: string | null): Promise<boolean> {
    const tokens = session.get();
    if (!tokens) return false;
    if (tokens.accessToken !== used) return true;
    const reply = await send(REFRESH, { refreshToken: tokens.refreshToken }, { headers: {} }).catch(
      (cause: unknown) => {
        throw new CallError(0, null, null, { cause });
      },
    );
    const next = reply.body as Partial<Tokens> | null;
    if (reply.status === 200 && next?.accessToken && next.refreshToken) {
      session.set({ accessToken: next.accessToken, refreshToken: next.refreshToken });
      return true;
    }
    if (reply.status >= 500 || reply.status === 429) {
      throw new CallError(reply.status, errorBodyOf(reply), reply.retryAfter ?? null);
    }
    return false;
  }
}

/** Whether a call was refused because its caller is no member of the workspace in X-Client-ID. */
export const isWorkspaceGone = ({ status, body }: CallError): boolean =>
  status === 404 && body?.fieldsWithError?.includes('X-Client-ID') === true;

const withSchemas = async <C extends Call>(call: C): Promise<C> => call;

const requiresStepUp = (reply: Reply): boolean => reply.status === 403 && errorBodyOf(reply)?.code === 'step-up';

function errorBodyOf({ body }: Reply): ErrorBody | null {
  return isErrorBody(body) ? body : null;
}

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
    /** Runs `refresh` for one tab at a time; the default runs it at once. */
    exclusively?<T>(refresh: () => Promise<T>): Promise<T>;
  };
  clientId(): number | null;
  /** The call with its schemas, for who holds the names of the calls alone; the default takes it as it is. */
  whole?<C extends Call>(call: C): Promise<C>;
  /** What the surroundings do about a failed call. None of them is called for a `quiet` one but `signedOut`. */
  on?: Partial<{
    signedOut(): void;
    forbidden(): void;
    notFound(): void;
    /** Asks the person to show that it is them; answers whether they did: the call is then sent once more. */
    stepUp(): Promise<boolean>;
    /** The workspace of X-Client-ID is no longer mine. */
    workspaceGone(): void;
    message(text: string, body: ErrorBody | null, retryAfter: number | null): void;
  }>;
}

export interface CallOptions {
  /** A background call: it never navigates and never toasts. */
  quiet?: boolean;
  signal?: AbortSignal;
  /** Made before the first send and kept for its repetitions; a fresh one by default. */
  idempotencyKey?: string;
  /** The caller shows refusals with status 200 itself. */
  ownMessages?: boolean;
}

export type Client = <C extends Call>(call: C, input: InputOf<C>, options?: CallOptions) => Promise<OutputOf<C>>;

const REFRESH = 'auth/exchange-refresh-token';
const LOGOUT = 'logout';

/**
 * The typed client. Resolves with the checked answer or throws `CallError`. A 401 starts one
 * refresh; calls that meet a 401 meanwhile wait for it and are replayed. When the refresh fails,
 * or refresh or logout themselves answer 401, the session is over.
 */
export function createClient({ send, session, clientId, whole = inFull, on = {} }: ClientOptions): Client {
  let refreshing: Promise<boolean> | null = null;

  return async (call, input, options = {}) => {
    const schemas = whole(call);
    // Looked at once there is an answer; until then its failure is nobody's.
    schemas.catch(() => {});
    const key = options.idempotencyKey ?? (needsIdempotencyKey(call.path) ? randomId() : undefined);
    let used = session.get()?.accessToken ?? null;
    let reply = await sendOnce(used);

    if (reply.status === 401 && (call.path === REFRESH || call.path === LOGOUT)) {
      on.signedOut?.();
    } else if (reply.status === 401 && call.auth !== 'public') {
      if (await isFreshNow()) {
        used = session.get()?.accessToken ?? null;
        reply = await sendOnce(used);
      }
      if (reply.status === 401) on.signedOut?.();
    }
    if (asksForStepUp(reply) && !options.quiet && (await on.stepUp?.())) {
      used = session.get()?.accessToken ?? null;
      reply = await sendOnce(used);
    }
    return await settle(reply);

    async function isFreshNow(): Promise<boolean> {
      try {
        return await freshTokens(used);
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
        if (options.signal?.aborted) throw new CallError(499, null, null, { cause });
        const error = new CallError(0, null, null, { cause });
        if (!options.quiet) report(error);
        throw error;
      }
    }

    /** As when no answer came: what is needed to read it did not. */
    async function known(): Promise<typeof call> {
      try {
        return await schemas;
      } catch (cause) {
        const error = new CallError(0, null, null, { cause });
        if (!options.quiet) report(error);
        throw error;
      }
    }

    async function settle(answer: Reply): Promise<OutputOf<typeof call>> {
      const body = refusalIn(answer);
      if (answer.status < 200 || answer.status >= 300) {
        const error = new CallError(answer.status, body, answer.retryAfter ?? null);
        if (!options.quiet) report(error);
        throw error;
      }
      const output = body ? null : (await known()).output.safeParse(answer.body);
      if (output?.success) return output.data as OutputOf<typeof call>;
      // A refusal, or an answer that this version of the contract does not know.
      const error = new CallError(answer.status, body, null, { cause: output?.error });
      if (!options.quiet && !options.ownMessages) on.message?.(error.message, body, null);
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
        // Whoever did not show that it is them stays where they are.
        if (body?.code !== 'step-up' || !on.stepUp) on.forbidden?.();
        return;
      case 404:
        if (body?.fieldsWithError?.includes('X-Client-ID')) on.workspaceGone?.();
        else on.notFound?.();
        return;
      case 500:
        if (body?.status !== 499) on.message?.(GENERIC_ERROR, null, null);
        return;
      default:
        on.message?.(error.message, body, error.retryAfter);
    }
  }

  /** Whether tokens newer than `used` are at hand, refreshing them when nobody has. */
  async function freshTokens(used: string | null): Promise<boolean> {
    refreshing ??= (session.exclusively ?? ((run) => run()))(() => refresh(used)).finally(() => {
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
      throw new CallError(reply.status, refusalIn(reply), reply.retryAfter ?? null);
    }
    return false;
  }
}

const inFull = async <C extends Call>(call: C): Promise<C> => call;

const asksForStepUp = (reply: Reply): boolean => reply.status === 403 && refusalIn(reply)?.code === 'step-up';

function refusalIn({ body }: Reply): ErrorBody | null {
  return isErrorBody(body) ? body : null;
}

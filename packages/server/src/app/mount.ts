import { type Api, api, everyCall } from '@stagi/contract/api.ts';
import { API_PREFIX, BODY_LIMIT, type Call, needsIdempotencyKey } from '@stagi/contract/call.ts';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { acceptedLanguage } from '@stagi/contract/languages.ts';
import { holdsAny } from '@stagi/contract/permissions.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { recorderOf } from '../audit/record.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import {
  badInput,
  forbidden,
  forbiddenToTokens,
  restarting,
  sendError,
  unauthenticated,
  workspaceGone,
} from '../http/errors.ts';
import type { Handler, Handlers, Member, SignedIn } from '../http/handlers.ts';
import { type Caller, noteCaller } from '../http/refusalLog.ts';
import { userAgentOf } from '../http/userAgent.ts';
import type { Visitor } from '../http/visitor.ts';
import { type Authenticated, authenticate, type Membership, requireStepUp } from '../sessions/authenticate.ts';
import { createKnownCallers, type KnownCallers } from '../sessions/knownCallers.ts';
import { type CallPlace, createCallSlots } from '../slots/callSlots.ts';
import { asPerson, asStranger } from '../slots/holder.ts';
import { dbForCall } from './crossWorkspaceCalls.ts';
import { requireIdempotencyKey, runIdempotently } from './idempotency.ts';
import { readKnownBrowserCookie, writeKnownBrowserCookie } from './knownBrowserCookie.ts';
import { guardLargeBodies } from './largeBodies.ts';

/** The timeout of a call, from its first byte to its answer. */
const ANSWER_WITHIN_MS = 30_000;
/** The same for a streamed answer, to its end. */
const STREAMED_WITHIN_MS = 30 * 60_000;
/** Larger bodies are read for those only who have authenticated, and only so many at a time. */
const SMALL_BODY = 64 * 1024;

/** Walks the call table: authenticate, check the call's permission, parse, handle, check the output. */
export function mount(app: FastifyInstance, context: Context, handlers: Handlers): void {
  app.setErrorHandler(sendError);
  const open = new Set<AbortController>();
  const callers = createKnownCallers(context);
  const { meters } = context;
  const slots = createCallSlots(context.slots.calls, meters);
  const slotsOfStreamed = createCallSlots(context.slots.streamedCalls, meters);
  app.addHook('preClose', async () => {
    for (const one of open) one.abort(restarting());
  });
  for (const domain of Object.keys(api) as (keyof Api)[]) {
    const calls = api[domain] as Record<string, Call>;
    const handlersOfDomain = handlers[domain] as unknown as Record<string, Handler<Call>>;
    for (const [name, call] of Object.entries(calls)) {
      const handler = handlersOfDomain[name];
      if (!handler) throw new Error(`no handler for ${call.path}`);
      const bodyLimit = call.bodyLimit ?? (call.auth === 'public' ? SMALL_BODY : BODY_LIMIT);
      const onRequest =
        bodyLimit > SMALL_BODY ? guardLargeBodies(context, call, { bodyLimit, smallBody: SMALL_BODY, callers }) : [];
      const handlerTimeout = call.streamed ? STREAMED_WITHIN_MS : ANSWER_WITHIN_MS;
      app.post(API_PREFIX + call.path, { bodyLimit, onRequest, handlerTimeout }, async (request, reply) => {
        const gone = goneOf(reply, open);
        const first = (await callers.holderOf(request.headers.authorization)) ?? asStranger(request.ip);
        return (call.streamed ? slotsOfStreamed : slots).pass(first, gone, (place) =>
          serve(call, handler, context, { request, reply, place, gone, callers }),
        );
      });
    }
  }
  const paths = everyCall().map((call) => call.path);
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice) throw new Error(`call ${twice} is in the table twice`);
}

/** Proxies in front must not hold lines back. */
const STREAMED = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' };

interface Asked {
  request: FastifyRequest;
  reply: FastifyReply;
  place: CallPlace;
  gone: AbortSignal;
  callers: KnownCallers;
}

async function serve(call: Call, handler: Handler<Call>, context: Context, asked: Asked): Promise<unknown> {
  const { request, reply, gone } = asked;
  const ctx = await authorize(call, context, asked);
  const parsed = call.input.safeParse(request.body ?? {});
  if (!parsed.success) throw badInput(parsed.error);
  // After parsing, so that nobody is asked for a step-up for invalid input.
  if (call.stepUp) requireStepUp(ctx as SignedIn);
  if (needsIdempotencyKey(call.path)) requireIdempotencyKey(request);
  let prepared: unknown = null;
  const prepare = async (): Promise<void> => {
    if ('prepare' in handler) prepared = await handler.prepare(ctx as Member, parsed.data, gone);
  };
  const act = async (db: Context['db']): Promise<unknown> => {
    const inside = (db === ctx.db ? ctx : { ...ctx, db }) as Member;
    const result = await ('prepare' in handler
      ? handler.act(inside, parsed.data, prepared)
      : handler(inside, parsed.data));
    return call.streamed ? result : call.output.parse(result);
  };
  const recorder = 'workspace' in ctx ? recorderOf(call, ctx, parsed.data) : null;
  let hasBegun = false;
  const answer = async (db: Db): Promise<unknown> => {
    hasBegun = true;
    // A call and its audit entry are one transaction.
    return recorder ? inTransaction(db, (trx) => recorder.done(trx, () => act(trx))) : act(db);
  };
  let answered: unknown;
  try {
    answered = needsIdempotencyKey(call.path)
      ? await runIdempotently(
          ctx as SignedIn & { workspace?: Membership },
          call.path,
          request,
          answer,
          'prepare' in handler ? prepare : null,
        )
      : await prepare().then(() => answer(ctx.db));
  } catch (error) {
    // After the transaction: waiting for a second connection while holding the first can deadlock the pool.
    if (hasBegun) await recorder?.notDone(ctx.db, error);
    throw error;
  }
  crashPoint(`${call.path as `${string}/${string}`}.committed`);
  if (call.streamed) void reply.type(call.streamed).headers(STREAMED);
  return answered;
}

/** Aborts when whoever called has gone. In `open` until then. */
function goneOf({ raw }: FastifyReply, open: Set<AbortController>): AbortSignal {
  const gone = new AbortController();
  open.add(gone);
  const leave = () => {
    open.delete(gone);
    gone.abort();
  };
  if (raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}

async function authorize(
  call: Call,
  context: Context,
  { request, reply, place, callers }: Asked,
): Promise<Visitor | SignedIn | Member> {
  let found = await authenticateCaller(call, context, request);
  let workspace = found && selectedWorkspace(found, request.headers['x-client-id']);
  if (found) {
    noteCaller(request, callerOf(found, workspace));
    const holder = asPerson(found.user.id, workspace?.id ?? null);
    callers.remember(request.headers.authorization!, holder);
    if (await place.passTo(holder)) {
      found = await authenticateCaller(call, context, request);
      workspace = found && selectedWorkspace(found, request.headers['x-client-id']);
    }
  }
  const visitor: Visitor = {
    ...context,
    db: dbForCall(context, call, null),
    ip: request.ip,
    userAgent: userAgentOf(request.headers),
    language: acceptedLanguage(request.headers['accept-language']),
    browserToken: readKnownBrowserCookie(context.config, request),
    keepBrowserToken: (token) => writeKnownBrowserCookie(context.config, reply, token),
    triesAccount: (userId) => noteCaller(request, { userId, isSignIn: true }),
    sessionUserId: found?.credential.kind === 'session' && !found.app ? found.user.id : null,
    log: request.log as Context['log'],
  };
  if (call.auth === 'public') return visitor;
  if (!found) throw unauthenticated();
  if (found.credential.kind === 'token' && !call.byToken) throw forbiddenToTokens();
  if (found.app && !call.byToken && !call.byApp) throw forbidden();
  const signedIn: SignedIn = { ...visitor, ...found, chosenWorkspace: workspace ?? null };
  if (call.auth === 'signed-in') return signedIn;
  if (!workspace) throw workspaceGone();
  const member: Member = { ...signedIn, db: dbForCall(context, call, workspace), workspace };
  if (call.auth !== 'member' && !holdsAny(workspace.permissions, call.auth)) {
    const asked = call.input.safeParse(request.body ?? {});
    await recorderOf(call, member, asked.data)?.notDone(member.db, forbidden());
    throw forbidden();
  }
  return member;
}

const callerOf = ({ user, credential, app }: Authenticated, workspace: Membership | null | undefined): Caller => ({
  userId: user.id,
  ...(credential.kind === 'token' && { apiTokenId: credential.id }),
  ...(app && { app: app.id }),
  ...(workspace && { workspaceId: workspace.id }),
});

/**
 * A public call asks nobody who they are. Who shows it all the same does not share the places of their address; where
 * that cannot be looked up, the call may still be answered.
 */
async function authenticateCaller(
  call: Call,
  context: Context,
  { headers: { authorization }, ip }: FastifyRequest,
): Promise<Authenticated | null> {
  const found = authenticate(context, authorization, ip);
  return call.auth === 'public' ? found.catch(() => null) : found;
}

/** X-Client-ID only selects one of the user's own memberships. An API token has one, which is the default. */
export function selectedWorkspace(
  { credential, memberships }: Pick<Authenticated, 'credential' | 'memberships'>,
  header: string | string[] | undefined,
): Membership | undefined {
  if (header === undefined && credential.kind === 'token') return memberships[0];
  if (typeof header !== 'string' || !/^\d{1,15}$/.test(header)) return undefined;
  return memberships.find((membership) => membership.id === Number(header));
}

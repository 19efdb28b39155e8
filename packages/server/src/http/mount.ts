import { type Api, api, everyCall } from '@stagi/contract/api.ts';
import {
  API_PREFIX,
  BODY_LIMIT,
  type Call,
  needsIdempotencyKey,
  type OutputOf,
  type ParsedInputOf,
} from '@stagi/contract/call.ts';
import { crashPoint } from '@stagi/contract/crashPoints.ts';
import { acceptedLanguage } from '@stagi/contract/languages.ts';
import { holdsAny } from '@stagi/contract/permissions.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { trailOf } from '../audit/record.ts';
import {
  type Authenticated,
  authenticate,
  type Credential,
  type Membership,
  requireStepUp,
} from '../auth/authenticate.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { readDevice, writeDevice } from './deviceCookie.ts';
import { badInput, forbidden, forbiddenToTokens, sendError, unauthenticated, workspaceGone } from './errors.ts';
import { once, requireKey } from './idempotency.ts';
import { guardLargeBodies } from './largeBodies.ts';
import type { Gate } from './overload.ts';
import { reach } from './reach.ts';
import type { Visitor as PlainVisitor } from './visitor.ts';

/** From the first byte of a call to its answer. */
const ANSWER_WITHIN_MS = 30_000;

interface Visitor extends PlainVisitor {
  log: Logger;
}
interface SignedIn extends Visitor {
  credential: Credential;
  session: Authenticated['session'];
  app: Authenticated['app'];
  user: Authenticated['user'];
  /** Every workspace of the user, first one first. */
  memberships: readonly Membership[];
  /** The one of them that X-Client-ID names. */
  chosenWorkspace: Membership | null;
}
interface Member extends SignedIn {
  workspace: Membership;
}

/** What a handler gets: as much as its call's `auth` promises. */
export type RequestContext<C extends Call = Call> = C['auth'] extends 'public'
  ? Visitor
  : C['auth'] extends 'signed-in'
    ? SignedIn
    : Member;

type Answer<C extends Call> = Promise<z.input<C['output']> | OutputOf<C>>;
type Handle<C extends Call> = (ctx: RequestContext<C>, input: ParsedInputOf<C>) => Answer<C>;
interface TwoSteps<C extends Call> {
  look(ctx: RequestContext<C>, input: ParsedInputOf<C>): Promise<unknown>;
  act(ctx: RequestContext<C>, input: ParsedInputOf<C>, seen: unknown): Answer<C>;
}
export type Handler<C extends Call> = Handle<C> | TwoSteps<C>;
export type HandlersOf<D extends Record<string, Call>> = { [K in keyof D]: Handler<D[K]> };

/** A handler that asks the outside world before its transaction begins: no transaction waits for the network. */
export function lookFirst<C extends Call, Seen>(
  look: (ctx: RequestContext<C>, input: ParsedInputOf<C>) => Promise<Seen>,
  act: (ctx: RequestContext<C>, input: ParsedInputOf<C>, seen: Seen) => Answer<C>,
): TwoSteps<C> {
  return { look, act: act as TwoSteps<C>['act'] };
}
export type Handlers = { [D in keyof Api]: HandlersOf<Api[D] extends Record<string, Call> ? Api[D] : never> };

/** Walks the call table: authenticate, check the call's permission, parse, handle, check the output. */
export function mount(app: FastifyInstance, context: Context, handlers: Handlers, gate: Gate): void {
  app.setErrorHandler(sendError);
  const refuse: onRequestHookHandler = (_request, _reply, done) => done(gate.refusal() ?? undefined);
  for (const domain of Object.keys(api) as (keyof Api)[]) {
    const calls = api[domain] as Record<string, Call>;
    const handlersOfDomain = handlers[domain] as unknown as Record<string, Handler<Call>>;
    for (const [name, call] of Object.entries(calls)) {
      const handler = handlersOfDomain[name];
      if (!handler) throw new Error(`no handler for ${call.path}`);
      const bodyLimit = call.bodyLimit ?? BODY_LIMIT;
      const onRequest = bodyLimit > BODY_LIMIT ? [refuse, guardLargeBodies(context, bodyLimit)] : [refuse];
      app.post(API_PREFIX + call.path, { bodyLimit, onRequest, handlerTimeout: ANSWER_WITHIN_MS }, (request, reply) =>
        gate.pass(() => serve(call, handler, context, request, reply)),
      );
    }
  }
  const paths = everyCall().map((call) => call.path);
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice) throw new Error(`call ${twice} is in the table twice`);
}

async function serve(
  call: Call,
  handler: Handler<Call>,
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const ctx = await admit(call, context, request, reply);
  const parsed = call.input.safeParse(request.body ?? {});
  if (!parsed.success) throw badInput(parsed.error);
  // After the parsing: nobody is asked for the sake of a call that is refused anyhow.
  if (call.stepUp) requireStepUp(ctx as SignedIn);
  if (needsIdempotencyKey(call.path)) requireKey(request);
  let seen: unknown = null;
  const look = async (): Promise<void> => {
    if ('look' in handler) seen = await handler.look(ctx as Member, parsed.data);
  };
  const act = async (db: Context['db']): Promise<unknown> => {
    const inside = (db === ctx.db ? ctx : { ...ctx, db }) as Member;
    return call.output.parse(
      await ('look' in handler ? handler.act(inside, parsed.data, seen) : handler(inside, parsed.data)),
    );
  };
  const trail = 'workspace' in ctx ? trailOf(call, ctx, parsed.data) : null;
  let hasBegun = false;
  const answer = async (db: Db): Promise<unknown> => {
    hasBegun = true;
    // An act and its entry in the audit log are one transaction.
    return trail ? inTransaction(db, (trx) => trail.done(trx, () => act(trx))) : act(db);
  };
  let answered: unknown;
  try {
    answered = needsIdempotencyKey(call.path)
      ? await once(
          ctx as SignedIn & { workspace?: Membership },
          call.path,
          request,
          answer,
          'look' in handler ? look : null,
        )
      : await look().then(() => answer(ctx.db));
  } catch (error) {
    // Once the transaction is over: who waits for a second connection with the first in their hands is waited for by all.
    if (hasBegun) await trail?.notDone(ctx.db, error);
    throw error;
  }
  crashPoint(`${call.path as `${string}/${string}`}.committed`);
  return answered;
}

async function admit(
  call: Call,
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Visitor | SignedIn | Member> {
  const visitor: Visitor = {
    ...context,
    db: reach(context, call, null),
    ip: request.ip,
    userAgent: request.headers['user-agent'] ?? null,
    language: acceptedLanguage(request.headers['accept-language']),
    device: readDevice(context.config, request),
    keepDevice: (device) => writeDevice(context.config, reply, device),
    log: request.log as Logger,
  };
  if (call.auth === 'public') return visitor;
  const found = await authenticate(context, request.headers.authorization, request.ip);
  if (!found) throw unauthenticated();
  if (found.credential.kind === 'token' && !call.byToken) throw forbiddenToTokens();
  if (found.app && !call.byToken && !call.byApp) throw forbidden();
  const workspace = selected(found, request.headers['x-client-id']);
  const signedIn: SignedIn = { ...visitor, ...found, chosenWorkspace: workspace ?? null };
  if (call.auth === 'signed-in') return signedIn;
  if (!workspace) throw workspaceGone();
  const member: Member = { ...signedIn, db: reach(context, call, workspace), workspace };
  if (call.auth !== 'member' && !holdsAny(workspace.permissions, call.auth)) {
    const asked = call.input.safeParse(request.body ?? {});
    await trailOf(call, member, asked.data)?.notDone(member.db, forbidden());
    throw forbidden();
  }
  return member;
}

/** X-Client-ID only picks one of the user's own memberships. A token has one, which goes without saying. */
export function selected(
  { credential, memberships }: Pick<Authenticated, 'credential' | 'memberships'>,
  header: string | string[] | undefined,
): Membership | undefined {
  if (header === undefined && credential.kind === 'token') return memberships[0];
  if (typeof header !== 'string' || !/^\d{1,15}$/.test(header)) return undefined;
  return memberships.find((membership) => membership.id === Number(header));
}

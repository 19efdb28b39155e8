import type { Api } from '@stagi/contract/api.ts';
import type { Call, OutputOf, ParsedInputOf } from '@stagi/contract/call.ts';
import type { z } from 'zod';
import type { Authenticated, Credential, Membership } from '../sessions/authenticate.ts';
import type { Visitor } from './visitor.ts';

export interface SignedIn extends Visitor {
  credential: Credential;
  session: Authenticated['session'];
  app: Authenticated['app'];
  user: Authenticated['user'];
  /** Every workspace of the user, the oldest membership first. */
  memberships: readonly Membership[];
  /** The one of them that X-Client-ID names. */
  chosenWorkspace: Membership | null;
}
export interface Member extends SignedIn {
  workspace: Membership;
}

/** The context that a handler gets: the call's `auth` decides which. */
export type RequestContext<C extends Call = Call> = C['auth'] extends 'public'
  ? Visitor
  : C['auth'] extends 'signed-in'
    ? SignedIn
    : Member;

type Answer<C extends Call> = Promise<z.input<C['output']> | OutputOf<C>>;
type Handle<C extends Call> = (ctx: RequestContext<C>, input: ParsedInputOf<C>) => Answer<C>;
interface PreparedHandler<C extends Call> {
  /** `gone` aborts when whoever called has gone, or the platform stops (then its reason is a PublicError). */
  prepare(ctx: RequestContext<C>, input: ParsedInputOf<C>, gone: AbortSignal): Promise<unknown>;
  act(ctx: RequestContext<C>, input: ParsedInputOf<C>, prepared: unknown): Answer<C>;
}
export type Handler<C extends Call> = Handle<C> | PreparedHandler<C>;
export type HandlersOf<D extends Record<string, Call>> = { [K in keyof D]: Handler<D[K]> };

/** A handler with a step before its transaction, so that no transaction waits for the network. */
export function prepareOutsideTransaction<C extends Call, Prepared>(
  prepare: (ctx: RequestContext<C>, input: ParsedInputOf<C>) => Promise<Prepared>,
  act: (ctx: RequestContext<C>, input: ParsedInputOf<C>, prepared: Prepared) => Answer<C>,
): PreparedHandler<C> {
  return { prepare, act: act as PreparedHandler<C>['act'] };
}

/** A handler for every call of the contract. */
export type Handlers = { [D in keyof Api]: HandlersOf<Api[D] extends Record<string, Call> ? Api[D] : never> };

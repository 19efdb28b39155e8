import { text } from '@stagi/contract/text.ts';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/schema.ts';
import { invalid, type PublicError, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { findOpenInvite, inviteUnusable } from '../invites/find.ts';
import { hashOfInvite } from '../invites/hash.ts';
import { joinWorkspace } from '../invites/join.ts';
import { endOfSignUpLink, takeSignUpLink } from './links.ts';

interface Newcomer {
  email: string;
  /** The hash of the invitation that they came with. */
  inviteHash: Buffer | null;
}

type Ground = { db: Db; config: Pick<Config, 'signUp'> };

export const inviteHashOf = (code: string | undefined): Buffer | null =>
  code === undefined ? null : hashOfInvite(code);

/**
 * Refuses somebody who may not make an account by the rule of this platform (`SIGN_UP`). Does not look whether the
 * address has an account, and takes no use of the invitation: `admitNewcomer` does.
 */
export async function requireAdmission({ db, config }: Ground, newcomer: Newcomer): Promise<void> {
  const ticket = ticketOf(config.signUp, newcomer);
  if (ticket && !(await endOfInvitation({ db, config }, ticket))) throw inviteUnusable();
}

/**
 * Lets a new account in, in the transaction that makes it, and takes one use of its invitation. That of a workspace makes
 * it a member, and the workspace is returned: so a link for one person admits one account.
 */
export async function admitNewcomer(
  ctx: Visitor,
  trx: Db,
  { id, name, ...newcomer }: Newcomer & { id: number; name: string },
): Promise<{ joinedClientId?: number }> {
  const { signUp } = ctx.config;
  const ticket = ticketOf(signUp, newcomer);
  if (!ticket || (await takeSignUpLink(trx, ticket))) return {};
  if (signUp.rule !== 'invite') throw inviteUnusable();
  const { ip, userAgent } = ctx;
  const joining = { ip, userAgent, user: { id, name }, credential: null };
  return { joinedClientId: (await joinWorkspace(joining, trx, ticket)).workspaceId };
}

/** The end of an invitation that lets somebody make an account here; `null` for any other. */
export async function endOfInvitation({ db, config }: Ground, hash: Buffer): Promise<Date | null> {
  const end = await endOfSignUpLink(db, hash);
  if (end || config.signUp.rule !== 'invite') return end;
  return (await findOpenInvite(db, hash))?.expires_at ?? null;
}

/** The invitation that the rule asks for; `null`: it asks for none. */
function ticketOf({ rule, domains }: Config['signUp'], { email, inviteHash }: Newcomer): Buffer | null {
  if (rule === 'open' || (rule === 'domain' && isOfDomain(email, domains))) return null;
  if (rule === 'off') throw refused(text('New accounts cannot be made here'));
  if (inviteHash) return inviteHash;
  if (rule === 'domain') throw foreignAddress(domains, 'email');
  throw refused(text('You need an invitation to sign up here. Open the link that you were sent.'));
}

/** Refuses an address outside of the platform's domains as the new one of an account that has one within. */
export function requireSameDomain({ rule, domains }: Config['signUp'], from: string, to: string): void {
  if (rule === 'domain' && isOfDomain(from, domains) && !isOfDomain(to, domains))
    throw foreignAddress(domains, 'newEmail');
}

const isOfDomain = (email: string, domains: readonly string[]): boolean =>
  domains.includes(email.slice(email.lastIndexOf('@') + 1));

const foreignAddress = (domains: readonly string[], field: string): PublicError =>
  invalid(text('Only addresses of {{domains}} can be used here'), field, { domains: domains.join(', ') });

import { COMMAND_AUDIENCE, Command, DesiredState } from '@stagi/contract/daemon.ts';
import { importJWK, jwtVerify } from 'jose';
import { readIfThere, writeDurably } from './durable.ts';
import type { Identity } from './identity.ts';
import { reasonOf, say } from './log.ts';

/** A server's clock may be off by this much before signed documents are taken for expired. */
const CLOCK_TOLERANCE_S = 60;

/** Throws when it was not signed by the pinned key for this node, or has expired. */
export async function verifyDesired(document: string, identity: Identity, now = new Date()): Promise<DesiredState> {
  return DesiredState.parse(await verify(document, 'desired+jwt', identity, now));
}

/** Throws when it was not signed by the pinned key for this node, or has expired. */
export async function verifyCommand(document: string, identity: Identity, now = new Date()): Promise<Command> {
  return Command.parse(await verify(document, 'command+jwt', identity, now));
}

/** Throws when the platform did not say that it disowns this node. */
export async function verifyRevocation(document: string, identity: Identity, now = new Date()): Promise<void> {
  await verify(document, 'revoked+jwt', identity, now);
}

/** The desired state that was accepted last, kept on disk so that a daemon without a link knows what it should do. */
export interface DesiredStore {
  current(): DesiredState | null;
  /** Takes a document over when it is newer than the current one; answers whether it did. Throws when it is not ours. */
  accept(document: string): Promise<boolean>;
}

export async function openDesired(path: string, identity: Identity): Promise<DesiredStore> {
  let current = await load(path, identity);
  let before: Promise<unknown> = Promise.resolve();

  async function take(document: string): Promise<boolean> {
    const offered = await verifyDesired(document, identity);
    if (current && offered.gen <= current.gen) return false;
    await writeDurably(path, document, 0o600);
    current = offered;
    return true;
  }
  return {
    current: () => current,
    accept(document) {
      // One after another, or an older one that takes longer to write would win.
      const taken = before.then(() => take(document));
      before = taken.catch(() => {});
      return taken;
    },
  };
}

/** What was accepted once stays in force however old it gets: a lost link stops nothing. */
async function load(path: string, identity: Identity): Promise<DesiredState | null> {
  const document = await readIfThere(path);
  if (document === null) return null;
  try {
    return await verifyDesired(document, identity, new Date(0));
  } catch (error) {
    say(`the stored desired state is not for this node any more: ${reasonOf(error)}`);
    return null;
  }
}

async function verify(document: string, typ: string, identity: Identity, now: Date): Promise<unknown> {
  const key = await importJWK(identity.commandKey, 'EdDSA');
  const { payload } = await jwtVerify(document, key, {
    algorithms: ['EdDSA'],
    audience: COMMAND_AUDIENCE,
    typ,
    requiredClaims: ['exp', 'node'],
    currentDate: now,
    clockTolerance: CLOCK_TOLERANCE_S,
  });
  if (payload.node !== identity.node) throw new Error('this document is for another node');
  return payload;
}

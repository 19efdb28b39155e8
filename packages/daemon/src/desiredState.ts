import { StreamOpening } from '@stagi/contract/daemonStreams.ts';
import { COMMAND_AUDIENCE, Command, DesiredState } from '@stagi/contract/desiredState.ts';
import { importJWK, jwtVerify } from 'jose';
import { readFileIfExists, writeFileAtomically } from './atomicFile.ts';
import type { Identity } from './identity.ts';
import { errorText, log } from './log.ts';

/** Signed documents are accepted for this long after they expire, as a server's clock may be off. */
const CLOCK_TOLERANCE_S = 60;

/** Throws when it was not signed by the pinned key for this node, or has expired. */
export async function verifyDesired(document: string, identity: Identity, now = new Date()): Promise<DesiredState> {
  return DesiredState.parse(await verify(document, 'desired+jwt', identity, now));
}

/** Throws when it was not signed by the pinned key for this node, or has expired. */
export async function verifyCommand(document: string, identity: Identity, now = new Date()): Promise<Command> {
  return Command.parse(await verify(document, 'command+jwt', identity, now));
}

/** Throws when it was not signed by the pinned key for this node, or has expired. */
export async function verifyOpening(document: string, identity: Identity, now = new Date()): Promise<StreamOpening> {
  return StreamOpening.parse(await verify(document, 'stream+jwt', identity, now));
}

/** Throws when it is not the platform's signed revocation of this node. */
export async function verifyRevocation(document: string, identity: Identity, now = new Date()): Promise<void> {
  await verify(document, 'revoked+jwt', identity, now);
}

/** The last accepted desired state, kept on disk so that the daemon also works while it is disconnected. */
export interface DesiredStore {
  current(): DesiredState | null;
  /** Stores a document that is newer than the current one; returns whether it was. Throws when it is not for this node. */
  accept(document: string): Promise<boolean>;
}

export async function openDesired(path: string, identity: Identity): Promise<DesiredStore> {
  let current = await load(path, identity);
  let before: Promise<unknown> = Promise.resolve();

  async function take(document: string): Promise<boolean> {
    const offered = await verifyDesired(document, identity);
    if (current && offered.gen <= current.gen) return false;
    await writeFileAtomically(path, document, 0o600);
    current = offered;
    return true;
  }
  return {
    current: () => current,
    accept(document) {
      // In sequence, or a slow write of an older document could overwrite a newer one.
      const taken = before.then(() => take(document));
      before = taken.catch(() => {});
      return taken;
    },
  };
}

/** An accepted document stays valid after it expires: being disconnected stops no container. */
async function load(path: string, identity: Identity): Promise<DesiredState | null> {
  const document = await readFileIfExists(path);
  if (document === null) return null;
  try {
    return await verifyDesired(document, identity, new Date(0));
  } catch (error) {
    log(`the stored desired state is not for this node any more: ${errorText(error)}`);
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

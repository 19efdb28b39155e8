import { Replaces } from '@stagi/contract/daemonFiles.ts';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { NamedCredential, nameOfCredential } from '../sessions/namedCredential.ts';
import { recheckStreamOwner } from '../sessions/recheckStreamOwner.ts';
import { currentOwner, type StreamOwner } from '../sessions/streamTicket.ts';
import type { Volume } from './daemonFiles.ts';
import { findVolume } from './find.ts';

const PLACE = 'volume|file';
const DOWNLOAD_MINUTES = 10;
const UPLOAD_HOURS = 24;

const Use = z.discriminatedUnion('for', [
  z.object({ for: z.literal('preview') }),
  z.object({ for: z.literal('download'), isFolder: z.boolean() }),
  z.object({ for: z.literal('upload'), upload: z.string(), total: z.number(), replaces: Replaces }),
]);
type Use = z.infer<typeof Use>;

/** What a link is for and whose it is: it ends with their session or token, and with their right. */
const Ticket = z.object({
  workspace: z.number(),
  credential: NamedCredential,
  id: z.number(),
  volume: z.string(),
  path: z.string(),
  use: Use,
  expiresAt: z.number(),
});
type Ticket = z.infer<typeof Ticket>;

export interface OpenedTicket {
  path: string;
  volume: Volume;
  use: Use;
  owner: StreamOwner;
  /** Throws when the owner may not do it any more. */
  recheck(owner: StreamOwner): Promise<unknown>;
}

type Sealer = Pick<Context, 'secrets'>;

/** A sealed text for an address. */
export function sealTicket(
  ctx: Sealer & Pick<Member, 'credential' | 'workspace'>,
  { id, volume, path }: Pick<Ticket, 'id' | 'volume' | 'path'>,
  use: Use,
): { sealed: string; expiresAt: string } {
  const minutes = use.for === 'upload' ? UPLOAD_HOURS * 60 : DOWNLOAD_MINUTES;
  const expiresAt = new Date(Date.now() + minutes * 60_000);
  const ticket: Ticket = {
    workspace: ctx.workspace.id,
    credential: nameOfCredential(ctx.credential),
    id,
    volume,
    path,
    use,
    expiresAt: expiresAt.getTime(),
  };
  return { sealed: ctx.secrets.seal(JSON.stringify(ticket), PLACE), expiresAt: expiresAt.toISOString() };
}

/** `unknown`: not ours or changed. `ended`: expired, or its owner has signed out or left. Throws PublicError. */
export async function openTicket(ctx: Context, sealed: string): Promise<OpenedTicket | 'unknown' | 'ended'> {
  const ticket = unseal(ctx, sealed);
  if (!ticket) return 'unknown';
  if (ticket.expiresAt <= Date.now()) return 'ended';
  const { use, path } = ticket;
  const owner = await currentOwner(ctx, {
    credential: ticket.credential,
    workspace: { id: ticket.workspace },
  });
  if (typeof owner === 'string') return 'ended';
  const recheck = ({ workspace }: StreamOwner) =>
    findVolume({ db: ctx.within(workspace.id), workspace }, ticket, use.for === 'preview' ? 'read' : 'change');
  return { path, use, owner, volume: await recheck(owner), recheck };
}

/** Calls `end` when the owner of a transfer signs out or may not have it any more. Returns what stops the watch. */
export function watchTicket(
  ctx: Context,
  { owner, recheck }: Pick<OpenedTicket, 'owner' | 'recheck'>,
  end: () => void,
): () => void {
  return recheckStreamOwner(ctx, owner, async () => {
    const now = await currentOwner(ctx, owner);
    if (typeof now === 'string') return end();
    await recheck(now).catch((error: unknown) => {
      if (!(error instanceof PublicError)) throw error;
      end();
    });
  });
}

function unseal({ secrets }: Sealer, sealed: string): Ticket | null {
  let plain: string;
  try {
    plain = secrets.open(sealed, PLACE);
  } catch {
    // Anybody may write anything into an address.
    return null;
  }
  return Ticket.parse(JSON.parse(plain));
}

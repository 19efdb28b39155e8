import type { RawFiles } from '@stagi/contract/projectCode.ts';
import { z } from 'zod';
import type { Context } from '../context.ts';

const PLACE = 'content|code';
const RAW_MINUTES = 10;

/** The commit whose files a link shows, and for whom. */
const Ticket = z.tuple([z.number(), z.number(), z.number(), z.string(), z.number()]);

export interface CodeTicket {
  workspaceId: number;
  projectId: number;
  userId: number;
  commit: string;
}

type Reader = Pick<Context, 'secrets' | 'config'> & { user: { id: number }; workspace: { id: number } };

/** Where the caller reads files of a commit as they are; the commit has been checked. */
export function rawFilesOf(ctx: Reader, projectId: number, commit: string): RawFiles {
  const expiresAt = new Date(Date.now() + RAW_MINUTES * 60_000);
  const ticket: z.infer<typeof Ticket> = [ctx.workspace.id, projectId, ctx.user.id, commit, expiresAt.getTime()];
  const sealed = ctx.secrets.seal(JSON.stringify(ticket), PLACE);
  return { link: `${ctx.config.contentOrigin}/code/${sealed}/`, expiresAt: expiresAt.toISOString() };
}

/** Null: not ours, or changed. */
export function openCodeTicket(
  { secrets }: Pick<Context, 'secrets'>,
  sealed: string,
): (CodeTicket & { isExpired: boolean }) | null {
  let plain: string;
  try {
    plain = secrets.open(sealed, PLACE);
  } catch {
    // Anybody may write anything into an address.
    return null;
  }
  const [workspaceId, projectId, userId, commit, expiresAt] = Ticket.parse(JSON.parse(plain));
  return { workspaceId, projectId, userId, commit, isExpired: expiresAt <= Date.now() };
}

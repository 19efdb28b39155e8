import type { RawFiles } from '@stagi/contract/projectCode.ts';
import { z } from 'zod';
import type { Context } from '../context.ts';
import type { Credential } from '../sessions/authenticate.ts';
import { NamedCredential, nameOfCredential } from '../sessions/namedCredential.ts';

const PLACE = 'content|code';
const RAW_MINUTES = 10;

/** The commit whose files a link shows, and with whose right: it ends with their session or token. */
const Ticket = z.object({
  workspace: z.number(),
  project: z.number(),
  user: z.number(),
  credential: NamedCredential,
  commit: z.string(),
  expiresAt: z.number(),
});

export type CodeTicket = z.infer<typeof Ticket>;

type Reader = Pick<Context, 'secrets' | 'config'> & {
  credential: Credential;
  user: { id: number };
  workspace: { id: number };
};

/** Where the caller reads files of a commit as they are; the commit has been checked. */
export function rawFilesOf(ctx: Reader, projectId: number, commit: string): RawFiles {
  const expiresAt = new Date(Date.now() + RAW_MINUTES * 60_000);
  const ticket: CodeTicket = {
    workspace: ctx.workspace.id,
    project: projectId,
    user: ctx.user.id,
    credential: nameOfCredential(ctx.credential),
    commit,
    expiresAt: expiresAt.getTime(),
  };
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
  const ticket = Ticket.parse(JSON.parse(plain));
  return { ...ticket, isExpired: ticket.expiresAt <= Date.now() };
}

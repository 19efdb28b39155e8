import { createHash } from 'node:crypto';
import { COMMAND_AUDIENCE, type DesiredState } from '@stagi/contract/daemon.ts';
import { SignJWT } from 'jose';
import { sql } from 'kysely';
import { desiredContainers } from '../containers/desired.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { authorizedKeys } from '../instances/sshAccess.ts';
import type { Connected } from './node.ts';

/** Against a replay the generation protects; this bounds how late a document may still arrive. */
const DOCUMENT_HOURS = 1;

/**
 * The signed desired state of a node under the next generation; `null` when it is what `sent` stands for, or when a
 * newer connection has taken over. Generation and content are read under one row lock: a higher one is never older.
 */
export async function desiredDocument(
  ctx: Pick<Context, 'db' | 'keys' | 'secrets'>,
  { instanceId, epoch }: Connected,
  sent: string | null,
): Promise<{ document: string; digest: string } | null> {
  return inTransaction(ctx.db, async (trx) => {
    const node = await trx
      .selectFrom('daemon_node')
      .select(['inventory', 'desired_gen'])
      .where('instance_id', '=', instanceId)
      .where('conn_epoch', '=', epoch)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!node) return null;
    const shown = node.inventory?.containers.map((container) => container.id) ?? [];
    const content: Pick<DesiredState, 'containers' | 'sshKeys'> = {
      containers: await desiredContainers(ctx, trx, instanceId, shown.filter(isRowId)),
      sshKeys: await authorizedKeys(trx, instanceId),
    };
    const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex');
    if (digest === sent) return null;
    const gen = node.desired_gen + 1;
    await trx
      .updateTable('daemon_node')
      .set({ desired_gen: sql<number>`${gen}` })
      .where('instance_id', '=', instanceId)
      .execute();
    const document = await new SignJWT({ node: String(instanceId), gen, ...content })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'desired+jwt' })
      .setAudience(COMMAND_AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(`${DOCUMENT_HOURS}h`)
      .sign(ctx.keys.command.privateKey);
    return { document, digest };
  });
}

/** A daemon may claim any number; ids of ours fit into 31 bits. */
const isRowId = (id: number): boolean => id <= 0x7fff_ffff;

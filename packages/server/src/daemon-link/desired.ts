import { createHash } from 'node:crypto';
import { COMMAND_AUDIENCE, type DesiredState } from '@stagi/contract/daemon.ts';
import { SignJWT } from 'jose';
import { sql } from 'kysely';
import { desiredContainersOf } from '../containers/desired.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { authorizedKeysOf } from '../instances/sshAccess.ts';
import type { Connected } from './node.ts';

/** Against a replay the generation protects; this bounds how late a document may still arrive. */
const DOCUMENT_HOURS = 1;

/** Connections that were sent something before, by the digest of it. */
interface Told {
  node: Connected;
  sent: string | null;
}

/**
 * The signed desired states under their next generations, of those connections for which it is not what `sent` stands
 * for and which no newer one has taken over. Generation and content are read under the nodes' row locks: a higher one is
 * never older.
 */
export async function desiredDocuments(
  ctx: Pick<Context, 'db' | 'keys' | 'secrets'>,
  told: readonly Told[],
): Promise<Map<Connected, { document: string; digest: string }>> {
  if (told.length === 0) return new Map();
  const changed = await inTransaction(ctx.db, async (trx) => {
    const nodes = await lockNodes(
      trx,
      told.map(({ node }) => node),
    );
    const ids = [...nodes.keys()];
    const containers = await desiredContainersOf(ctx, trx, nodes);
    const sshKeys = await authorizedKeysOf(trx, ids);
    const news = told.flatMap(({ node, sent }) => {
      if (!nodes.has(node.instanceId)) return [];
      const content: Pick<DesiredState, 'containers' | 'sshKeys'> = {
        containers: containers.get(node.instanceId) ?? [],
        sshKeys: sshKeys.get(node.instanceId) ?? null,
      };
      const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex');
      return digest === sent ? [] : [{ node, content, digest }];
    });
    const gens = await countUp(
      trx,
      news.map(({ node }) => node.instanceId),
    );
    return news.map((one) => ({ ...one, gen: gens.get(one.node.instanceId)! }));
  });
  const signed = changed.map(async ({ node, gen, content, digest }) => {
    const document = await new SignJWT({ node: String(node.instanceId), gen, ...content })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'desired+jwt' })
      .setAudience(COMMAND_AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(`${DOCUMENT_HOURS}h`)
      .sign(ctx.keys.command.privateKey);
    return [node, { document, digest }] as const;
  });
  return new Map(await Promise.all(signed));
}

/** Locks the nodes whose connection is the newest, always in the same order, and tells the containers each has shown. */
async function lockNodes(trx: Db, connections: readonly Connected[]): Promise<Map<number, number[]>> {
  const { rows } = await sql<{ instance_id: number; shown: number[] }>`
    select instance_id, coalesce(jsonb_path_query_array(inventory, '$.containers[*].id'), '[]') as shown
    from daemon_node
    where (instance_id, conn_epoch) in (
      select * from unnest(
        ${connections.map(({ instanceId }) => instanceId)}::int[], ${connections.map(({ epoch }) => epoch)}::int[])
    )
    order by instance_id for no key update`.execute(trx);
  return new Map(rows.map(({ instance_id, shown }) => [instance_id, shown.filter(isRowId)]));
}

async function countUp(trx: Db, instanceIds: readonly number[]): Promise<Map<number, number>> {
  if (instanceIds.length === 0) return new Map();
  const { rows } = await sql<{ instance_id: number; desired_gen: number }>`
    update daemon_node set desired_gen = desired_gen + 1 where instance_id = any(${[...instanceIds]}::int[])
    returning instance_id, desired_gen`.execute(trx);
  return new Map(rows.map(({ instance_id, desired_gen }) => [instance_id, desired_gen]));
}

/** A daemon may claim any number; ids of ours fit into 31 bits. */
const isRowId = (id: number): boolean => id <= 0x7fff_ffff;

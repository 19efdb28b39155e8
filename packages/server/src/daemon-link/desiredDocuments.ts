import { createHash } from 'node:crypto';
import { COMMAND_AUDIENCE, type DesiredState } from '@stagi/contract/desiredState.ts';
import { SignJWT } from 'jose';
import { sql } from 'kysely';
import { desiredContainersByServer } from '../containers/desired.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { authorizedKeysByServer } from '../instances/sshAccess.ts';
import type { NodeConnection } from './nodeConnection.ts';

/** Bounds how late a document may arrive; against a replay the generation protects. */
const DOCUMENT_HOURS = 1;

/** A connection, with the digest of the last document that it was sent. */
interface SentDocument {
  node: NodeConnection;
  sent: string | null;
}

/**
 * Signs the desired states, under their next generations, for the connections whose content differs from what was sent.
 * Fenced connections are left out. Generation and content are read under the nodes' row locks, so that a higher
 * generation never has older content.
 */
export async function desiredDocuments(
  ctx: Pick<Context, 'db' | 'keys' | 'secrets'>,
  connections: readonly SentDocument[],
): Promise<Map<NodeConnection, { document: string; digest: string }>> {
  if (connections.length === 0) return new Map();
  const changed = await inTransaction(ctx.db, async (trx) => {
    const nodes = await lockNodes(
      trx,
      connections.map(({ node }) => node),
    );
    const ids = [...nodes.keys()];
    const containers = await desiredContainersByServer(ctx, trx, nodes);
    const sshKeys = await authorizedKeysByServer(trx, ids);
    const news = connections.flatMap(({ node, sent }) => {
      if (!nodes.has(node.instanceId)) return [];
      const content: Pick<DesiredState, 'containers' | 'sshKeys'> = {
        containers: containers.get(node.instanceId) ?? [],
        sshKeys: sshKeys.get(node.instanceId) ?? null,
      };
      const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex');
      return digest === sent ? [] : [{ node, content, digest }];
    });
    const gens = await incrementGenerations(
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

/** Locks the nodes of connections that are not fenced, in one order against deadlocks; returns the containers that each reported. */
async function lockNodes(trx: Db, connections: readonly NodeConnection[]): Promise<Map<number, number[]>> {
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

async function incrementGenerations(trx: Db, instanceIds: readonly number[]): Promise<Map<number, number>> {
  if (instanceIds.length === 0) return new Map();
  const { rows } = await sql<{ instance_id: number; desired_gen: number }>`
    update daemon_node set desired_gen = desired_gen + 1 where instance_id = any(${[...instanceIds]}::int[])
    returning instance_id, desired_gen`.execute(trx);
  return new Map(rows.map(({ instance_id, desired_gen }) => [instance_id, desired_gen]));
}

/** A daemon may report any number; row ids fit into 31 bits. */
const isRowId = (id: number): boolean => id <= 0x7fff_ffff;

import { randomUUID } from 'node:crypto';
import {
  COMMAND_AUDIENCE,
  type Command,
  type CommandOutcome,
  Command as CommandShape,
} from '@stagi/contract/desiredState.ts';
import { SignJWT } from 'jose';
import { sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';

type Body = Command['do'];

/** How long a command stays valid while its daemon is offline: a late restart would surprise, a late leave is still wanted. */
const COMMAND_TTL: Record<Body['kind'], string> = {
  restart: '3 minutes',
  leave: '30 days',
  'image-remove': '5 minutes',
  'image-prune': '10 minutes',
};
const RETENTION = '30 days';

/** Stores a one-time command and notifies the process that holds the server's link. It is sent until answered or expired. */
export async function sendCommand(_: unknown, trx: Db, instanceId: number, body: Body): Promise<string> {
  const id = randomUUID();
  await trx
    .insertInto('daemon_command')
    .values({
      id,
      instance_id: instanceId,
      body: JSON.stringify(body),
      expires_at: sql<Date>`now() + ${COMMAND_TTL[body.kind]}::interval`,
    })
    .execute();
  await announce(trx, 'node', { instanceId });
  return id;
}

/** Signed commands that each server has not answered yet, oldest first. */
export async function pendingCommands(
  { keys }: Pick<Context, 'keys'>,
  db: Db,
  instanceIds: readonly number[],
): Promise<Map<number, { id: string; document: string }[]>> {
  if (instanceIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('daemon_command')
    .select(['id', 'instance_id', 'body', 'created_at', 'expires_at'])
    .where('instance_id', '=', sql<number>`any(${[...instanceIds]}::int[])`)
    .where('answered_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy('created_at')
    .execute();
  const signed = await Promise.all(
    rows.map(async (row) => ({
      instanceId: row.instance_id,
      id: row.id,
      document: await new SignJWT({
        node: String(row.instance_id),
        id: row.id,
        do: CommandShape.shape.do.parse(row.body),
      })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'command+jwt' })
        .setAudience(COMMAND_AUDIENCE)
        .setIssuedAt(row.created_at)
        .setExpirationTime(row.expires_at)
        .sign(keys.command.privateKey),
    })),
  );
  return Map.groupBy(signed, ({ instanceId }) => instanceId);
}

/** Stores an answer. Null when this server has no such open command: it was answered before, or belongs to another server. */
export async function recordCommandAnswer(
  trx: Db,
  instanceId: number,
  answer: { commandId: string; ok: boolean; message: string | null; outcome?: CommandOutcome | undefined },
): Promise<Body | null> {
  const row = await trx
    .updateTable('daemon_command')
    .set({
      answered_at: sql<Date>`now()`,
      ok: answer.ok,
      message: answer.message?.slice(0, 500) ?? null,
      result: answer.outcome ? JSON.stringify(answer.outcome) : null,
    })
    .where(sql<boolean>`id::text = ${answer.commandId}`)
    .where('instance_id', '=', instanceId)
    .where('answered_at', 'is', null)
    .returning('body')
    .executeTakeFirst();
  return row ? CommandShape.shape.do.parse(row.body) : null;
}

export async function deleteOldCommands(db: Db): Promise<void> {
  await db.deleteFrom('daemon_command').where('expires_at', '<', sql<Date>`now() - ${RETENTION}::interval`).execute();
}

import { api } from '@stagi/contract/api.ts';
import type { LogLine } from '@stagi/contract/logging.ts';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { inTransaction } from '../../db/pool.ts';
import { openLog } from '../../logging/testing/shipped.ts';
import { issueEnrolment } from '../../nodes/enrolment.ts';
import { type CloudApp, rentServer, waitForStatus } from '../../testing/cloudApp.ts';
import { connectDaemon, enrolNode, type NodeKey } from '../../testing/daemon.ts';
import type { Person } from '../../testing/person.ts';

export const WAIT = { timeout: 60_000, interval: 50 };

export interface LoggedServer {
  id: number;
  slug: string;
  storageId: number;
  key: NodeKey;
}

/** An online rented server whose log bucket is made, and whose daemon is enrolled. */
export async function aLoggedServer(app: CloudApp, owner: Person): Promise<LoggedServer> {
  const { id, slug } = await rentServer(owner);
  const { logBucket } = await waitForStatus(owner, id, 'online');
  const storageId = logBucket!.storageId;
  await expect.poll(() => statusOfStorage(owner, storageId), WAIT).toBe('rented');
  const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'rented'));
  return { id, slug, storageId, key: await enrolNode(app.url, token) };
}

export const statusOfStorage = async ({ client }: Person, id: number) =>
  (await client(api.storages.view, { id })).entity.status;

/** Connects a daemon of the server, which ships these records of a container. */
export async function printRecords(app: CloudApp, server: LoggedServer, containerId: number, records: Uint8Array[]) {
  const daemon = await connectDaemon(app.url, server.key);
  const ship = await openLog(daemon, containerId);
  await ship.print(...records);
  return ship;
}

/** Waits until nothing of a container is left to copy. */
export async function waitForCopy(app: CloudApp, containerId: number): Promise<void> {
  const left = sql<{ left: number }>`
    select (head.last_seq - copy.copied_seq)::integer
      + (select count(*)::integer from log_chunk where container_id = ${containerId} and state = 'intent') as left
    from log_head head join log_copy copy using (container_id) where container_id = ${containerId}`;
  await expect.poll(async () => (await left.execute(app.ctx.db)).rows[0]?.left, WAIT).toBe(0);
}

export async function linesInPostgres(
  { client }: Pick<Person, 'client'>,
  containerId: number,
  after = 0,
): Promise<LogLine[]> {
  const source = { type: 'docker-container' as const, id: containerId };
  const { lines, isMore } = await client(api.logging.query, { source, limit: 1000, cursor: { after } });
  return isMore ? [...lines, ...(await linesInPostgres({ client }, containerId, lines.at(-1)!.seq))] : lines;
}

export async function slugOfContainer({ client }: Person, containerId: number): Promise<string> {
  return (await client(api.containers.view, { id: containerId })).entity.slug;
}

/** Text that does not get smaller. */
export const noise = (length: number): string =>
  Array.from({ length }, () => String.fromCharCode(33 + Math.floor(Math.random() * 90))).join('');

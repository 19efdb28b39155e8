import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { burnRateOf } from './burnRate.ts';
import { aWorkspaceWith, serversOf } from './meteredWorkspace.ts';
import { type MeteredBooks, openMeteredBooks } from './testing/meteredBooks.ts';

const RUNNING = 3_600_000n;
const STOPPED = 36_000n;
const STATUSES = ['in queue', 'creating', 'online', 'powering on', 'powering off', 'stopped'] as const;

let books: MeteredBooks;
let owner: { workspaceId: number; userId: number };
beforeAll(async () => {
  books = await openMeteredBooks();
  owner = await aWorkspaceWith(books.db, { credit: 1_000n });
  await sql`insert into workspace_meter (client_id, metered_at) values (${owner.workspaceId}, metering_clock())`.execute(
    books.db,
  );
});
afterAll(() => books?.close());

/** What an hour of one server costs, by its status. */
async function burns(isHeld: boolean, exhausted: boolean, resumesAll: boolean): Promise<Record<string, bigint>> {
  const { db } = books;
  await sql`update workspace set exhausted_at = case when ${exhausted} then now() end where id = ${owner.workspaceId}`.execute(
    db,
  );
  await sql`update workspace_meter set resumes_all = ${resumesAll} where client_id = ${owner.workspaceId}`.execute(db);
  const found: Record<string, bigint> = {};
  for (const status of STATUSES) {
    const [id] = await serversOf(db, owner, 1, { status, running: RUNNING, stopped: STOPPED });
    if (isHeld) await sql`update instance set zero_stopped_at = now() where id = ${id}`.execute(db);
    found[status] = (await burnRateOf(db, owner.workspaceId)).perHour;
    await sql`update instance set closed_at = now() where id = ${id}`.execute(db);
  }
  return found;
}

const all = (price: bigint) => Object.fromEntries(STATUSES.map((status) => [status, price]));

it('counts what runs and what is on its way at its price, what is stopped at that of its disk', async () => {
  const running = { ...all(RUNNING), 'powering off': STOPPED, stopped: STOPPED };
  for (const resumesAll of [true, false]) expect(await burns(false, false, resumesAll)).toEqual(running);
});

it('counts the disk alone of what waits for a credit, nothing where there is none yet', async () => {
  const waiting = { ...all(STOPPED), 'in queue': 0n, creating: 0n };
  for (const resumesAll of [true, false]) expect(await burns(true, true, resumesAll)).toEqual(waiting);
  // Somebody has chosen others: it goes on waiting.
  expect(await burns(true, false, false)).toEqual(waiting);
});

it('counts at its price what a credit is about to start again', async () => {
  expect(await burns(true, false, true)).toEqual(all(RUNNING));
});

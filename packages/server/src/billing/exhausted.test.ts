import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { meterDueWorkspaces } from '../metering/worker.ts';
import { aWorkspaceWith, credit, serversOf } from './meteredWorkspace.ts';
import { meterWorkspace } from './meterWorkspace.ts';
import { quiet as log, type MeteredBooks, openMeteredBooks, SECOND } from './testing/meteredBooks.ts';

let books: MeteredBooks;
beforeAll(async () => {
  books = await openMeteredBooks();
});
afterAll(() => books?.close());

describe('a balance that runs out', () => {
  // Nobody else's servers run in these tests.
  beforeEach(async () => {
    await sql`update segment set ended_at = metered_until, settled = true where not settled`.execute(books.db);
  });

  it('ends at exactly zero; the rest is uncollected and written off; the workspace is exhausted', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 10_000n, card: 20_000n, onchain: 30_001n });
    const ids = await serversOf(books.db, workspace, 3, { running: 3_600_000n });
    const start = 10_000_000 * SECOND;
    for (const id of ids) {
      await books.at(start, id, 'creating', 'creating');
      await books.at(start, id, 'online', 'running');
    }
    await books.setClock(start + 19 * SECOND);
    expect(await meterDueWorkspaces({ db: books.db, log }, 60_000)).toEqual([]);
    await books.setClock(start + 24 * SECOND);
    const [tick] = await meterDueWorkspaces({ db: books.db, log }, 60_000);
    expect(tick).toMatchObject({ charged: 60_001n, uncollected: 11_999n, exhausted: 'now' });
    expect(await books.balanceOf(workspace.workspaceId)).toEqual({ credit: 0n, card: 0n, onchain: 0n, held: 0n });
    const { rows } = await sql<{
      charged: bigint;
    }>`select charged from segment where client_id = ${workspace.workspaceId} order by id`.execute(books.db);
    expect(rows.map(({ charged }) => charged)).toEqual([24_000n, 24_000n, 12_001n]);
    await credit(books.db, workspace.workspaceId, 'credit', 5_000n);
    await books.setClock(start + 25 * SECOND);
    expect(await meterWorkspace(books.db, workspace.workspaceId)).toMatchObject({ charged: 3_000n, exhausted: 'no' });
    await books.expectOneStory();
  });

  it('stops at the reserve where something could not be stopped otherwise', async () => {
    const workspace = await aWorkspaceWith(books.db, { credit: 1_900_000n });
    const [id] = await serversOf(books.db, workspace, 1, { running: 3_600_000n, canStop: false });
    const start = 11_000_000 * SECOND;
    await books.at(start, id!, 'creating', 'creating');
    await books.at(start, id!, 'online', 'running');
    await books.setClock(start + 101 * SECOND);
    const [tick] = await meterDueWorkspaces({ db: books.db, log }, 3_600_000);
    expect(tick).toMatchObject({ charged: 101_000n, uncollected: 0n, exhausted: 'now' });
  });
});

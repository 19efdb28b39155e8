import { CONTAINER_MOVES, type ContainerStatus } from '@stagi/contract/containers.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transitionContainer } from '../containers/status.ts';
import { transitionInstance } from '../instances/status.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import {
  aContainer,
  anImport,
  anInvite,
  aProject,
  aRentedInstance,
  aSelfHostedServer,
  aStorage,
} from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { aTask } from '../testing/taskFactories.ts';
import { STATUS_MOVES } from './statusMoves.ts';

const CHECK_VIOLATION = '23514';

/** The entities with a status, each with a new row to change. */
const ENTITIES: Record<string, { table: string; row(app: TestApp, owner: Person): Promise<number> }> = {
  rented: { table: 'instance', row: (app, owner) => aRentedInstance(app.ctx, owner) },
  'self-hosted': { table: 'instance', row: (app, owner) => aSelfHostedServer(app.ctx, owner) },
  'docker-container': {
    table: 'container',
    row: async (app, owner) => aContainer(app.ctx, owner, await aRentedInstance(app.ctx, owner)),
  },
  invite: { table: 'invite', row: async (app, owner) => (await anInvite(app.ctx, owner)).id },
  storage: { table: 'storage', row: (app, owner) => aStorage(app.ctx, owner) },
  project: { table: 'project', row: (app, owner) => aProject(app.ctx, owner) },
  'project-import': {
    table: 'project_import',
    row: async (app, owner) => anImport(app.ctx, await aProject(app.ctx, owner)),
  },
  task: { table: 'task', row: (app, owner) => aTask(app.ctx, owner, 'new') },
};

/** Tries every pair of statuses, in the database and through the function. */
describe('the status transitions', () => {
  let app: TestApp;
  let owner: Person;
  let client: pg.Client;
  let pairs = 0;
  let escapes = 0;
  beforeAll(async () => {
    app = await startTestApp();
    owner = await app.signUp();
    client = new pg.Client({ connectionString: app.databaseUrl });
    await client.connect();
  });
  afterAll(async () => {
    console.log(`status moves: n = ${pairs} pairs of ${STATUS_MOVES.length} entities, ${escapes} escapes`);
    await client?.end();
    await app?.close();
  });

  it('are listed for every entity with a status', () => {
    expect(STATUS_MOVES.map(({ kind }) => kind)).toEqual(Object.keys(ENTITIES));
  });

  it.each(STATUS_MOVES)('of a $kind are exactly those of its table', async (entity) => {
    const { table, row } = ENTITIES[entity.kind]!;
    const id = await row(app, owner);
    const statuses = Object.keys(entity.moves);
    for (const from of statuses) {
      for (const to of statuses) {
        const isAllowed = from === to || entity.moves[from]!.includes(to);
        const isDone = await tryMove(client, table, id, from, to);
        pairs += 1;
        if (isDone && !isAllowed) escapes += 1;
        expect.soft(isDone, `${entity.kind}: ${from} → ${to}`).toBe(isAllowed);
      }
    }
    expect(await tryMove(client, table, id, statuses[0]!, 'no such status')).toBe(false);
    expect(pairs).toBeGreaterThan(0);
  });

  it('of a server go through one function that records evidence, or change nothing', async () => {
    const seenAt = new Date('2026-05-01T12:00:00Z');
    for (const { kind, moves } of STATUS_MOVES.filter(({ kind: one }) => ENTITIES[one]!.table === 'instance')) {
      for (const from of Object.keys(moves)) {
        for (const to of Object.keys(moves).filter((other) => other !== from)) {
          const id = await ENTITIES[kind]!.row(app, owner);
          await standAt(client, 'instance', id, from);
          const deadline = new Date('2027-01-01T00:00:00Z');
          const moved = await transitionInstance(app.ctx, app.ctx.db, id, to, { reason: 'because', seenAt, deadline });
          const { rows } = await client.query('select * from instance where id = $1', [id]);
          const isAllowed = moves[from]!.includes(to);
          expect.soft(moved, `${kind}: ${from} → ${to}`).toBe(isAllowed);
          expect
            .soft(rows[0])
            .toMatchObject(
              isAllowed
                ? { status: to, status_reason: 'because', status_seen_at: seenAt, status_deadline: deadline }
                : { status: from, status_reason: null, status_seen_at: null, status_deadline: null },
            );
        }
      }
    }
  });

  it('of a container go through one function, with a deadline for transient statuses', async () => {
    const passing: ContainerStatus[] = ['creating', 'starting', 'stopping', 'rebooting'];
    const instanceId = await aRentedInstance(app.ctx, owner);
    for (const [from, allowed] of Object.entries(CONTAINER_MOVES)) {
      for (const to of allowed) {
        const id = await aContainer(app.ctx, owner, instanceId);
        await standAt(client, 'container', id, from);
        expect.soft(await transitionContainer(app.ctx.db, id, to, { reason: 'because' }), `${from} → ${to}`).toBe(true);
        const { rows } = await client.query('select * from container where id = $1', [id]);
        expect.soft(rows[0]).toMatchObject({ status: to, status_reason: 'because', status_seen_at: expect.any(Date) });
        expect.soft(rows[0].status_deadline !== null, `deadline of ${to}`).toBe(passing.includes(to));
      }
    }
  });
});

/** Whether the database allows this transition; the row is not changed. */
async function tryMove(client: pg.Client, table: string, id: number, from: string, to: string): Promise<boolean> {
  await standAt(client, table, id, from);
  await client.query('begin');
  try {
    await client.query(`update ${table} set status = $1 where id = $2`, [to, id]);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: CHECK_VIOLATION });
    return false;
  } finally {
    await client.query('rollback');
  }
}

/** Sets a status without the trigger, as no other code can. */
async function standAt(client: pg.Client, table: string, id: number, status: string): Promise<void> {
  await client.query(`set session_replication_role = replica`);
  await client.query(`update ${table} set status = $1 where id = $2`, [status, id]);
  await client.query(`set session_replication_role = origin`);
}

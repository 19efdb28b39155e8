import { RENTED_MOVES, type RentedStatus } from '@stagi/contract/instances.ts';
import { asMicro } from '@stagi/contract/money.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { disableClient, enableClient } from '../admin/disableClient.ts';
import { inTransaction } from '../db/pool.ts';
import { isOverload, PublicError } from '../http/errors.ts';
import { requestAction } from '../instances/actions.ts';
import { transitionInstance } from '../instances/status.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { resumeServers } from '../metering/resume.ts';
import { enforceZeroBalances } from '../metering/zeroBalance.ts';
import { sendZeroNotices } from '../metering/zeroNotices.ts';
import { transitionStorage } from '../storages/status.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { capture, hold, release } from './holds.ts';
import { inLedgerTransaction } from './ledger.ts';
import { changeStorage, credit, serversOf, storagesOf } from './meteredWorkspace.ts';
import { meterWorkspace } from './meterWorkspace.ts';
import { requireFirstDay, requireOneHour } from './rentGate.ts';
import { syncStorageSegment } from './storageSegments.ts';
import { endZeroBalance, resumeAll } from './zero.ts';

/** There is an act of its own for these. */
const ENDS: readonly string[] = ['terminated', 'terminating', 'creation failed'];
const PEOPLE = 3;
const SERVERS = 4;
/** Of a storage: a month costs 730 STAGI. */
const DEAR = 730_000_000n;
const AT_ONCE = 8;
const ACTS = 1_000;
/** How much more often than the others: what there is always much of, and what would end everything soon. */
const OFTEN: Record<string, number> = { move: 40, tick: 10, start: 10, stop: 10, resume: 8, credit: 6, follow: 6 };
const SELDOM: Record<string, number> = { endStorage: 1, disable: 1, terminate: 1, rent: 2 };

const seed = newSeed();
const random = seeded(seed);
const { pick } = random;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ STARTER_CREDIT: '1' }, { role: 'api' });
});
afterAll(() => app?.close());

it('keeps the ledger sound without a deadlock under random concurrent operations', { timeout: 120_000 }, async () => {
  const { ctx } = app;
  const { db } = ctx;
  const people: { person: Person; servers: number[]; storages: number[] }[] = [];
  for (let n = 0; n < PEOPLE; n += 1) {
    const person = await app.signUp();
    const servers = await serversOf(db, person, SERVERS, {
      status: 'online',
      machineState: 'running',
      running: 3_600_000_000n,
      stopped: 36_000_000n,
    });
    servers.push(...(await serversOf(db, person, 1, { running: 3_600_000_000n, canStop: false })));
    const storages = await storagesOf(db, person, 2, { pricePerMonth: DEAR });
    for (const id of storages) await changeStorage(db, id, { status: 'rented' });
    people.push({ person, servers, storages });
  }
  const operator = people[0]!.person;
  await db.updateTable('app_user').set({ is_employee: true }).where('id', '=', operator.userId).execute();
  const asOperator = {
    ...ctx,
    user: { id: operator.userId },
    credential: { kind: 'session', id: '0' } as never,
    ip: '127.0.0.1',
    userAgent: null,
  };
  const holds: bigint[] = [];
  let keys = 0;
  const callerOf = ({ person }: (typeof people)[number]) => ({
    ...ctx,
    user: { id: person.userId },
    workspace: { id: person.workspaceId, plan: 'Team' as const, quotas: {} },
  });

  const acts: Record<string, (of: (typeof people)[number]) => Promise<unknown>> = {
    tick: ({ person }) => meterWorkspace(db, person.workspaceId),
    move: ({ servers }) => {
      const id = pick(servers);
      return inTransaction(db, async (trx) => {
        const { rows } = await sql<{
          status: RentedStatus;
        }>`select status from instance where id = ${id} for no key update`.execute(trx);
        const { status } = rows[0]!;
        const to = pick([status, ...RENTED_MOVES[status].filter((next) => !ENDS.includes(next))]);
        const shows = pick(['running', 'running', 'running', 'stopped', 'creating', null]);
        await sql`update instance set machine_state = ${shows}, running_seen_at = case when ${shows === 'running'} then now() else running_seen_at end where id = ${id}`.execute(
          trx,
        );
        await transitionInstance(ctx, trx, id, to, {});
      });
    },
    rent: async (of) => {
      const ids = await inTransaction(db, async (trx) => {
        await requireOneHour(trx, of.person.workspaceId, { pricePerHour: 1_000n, canStop: true });
        await endZeroBalance(trx, of.person.workspaceId, { resumesAll: false });
        return serversOf(trx, of.person, 1, { running: 1_000n });
      });
      // Others see it only now.
      of.servers.push(...ids);
    },
    rentStorage: async (of) => {
      const [id] = await inTransaction(db, async (trx) => {
        await requireFirstDay(trx, of.person.workspaceId, 1_000n);
        await endZeroBalance(trx, of.person.workspaceId, { resumesAll: false });
        return storagesOf(trx, of.person, 1, { pricePerMonth: 1_000n });
      });
      await changeStorage(db, id!, { status: 'rented' });
      of.storages.push(id!);
    },
    resizeStorage: (of) =>
      inTransaction(db, async (trx) => {
        const id = pick(of.storages);
        await sql`select 1 from storage where id = ${id} for no key update`.execute(trx);
        await requireFirstDay(trx, of.person.workspaceId, 1_000n);
        await sql`update storage set price_per_month = price_per_month + 1000 where id = ${id}`.execute(trx);
        await syncStorageSegment(trx, id);
      }),
    endStorage: (of) => inTransaction(db, (trx) => transitionStorage(ctx, trx, pick(of.storages), 'terminating', {})),
    terminate: (of) => requestAction(callerOf(of), 'terminate', { id: pick(of.servers) }),
    stop: (of) => requestAction(callerOf(of), 'stop', { id: pick(of.servers) }),
    start: (of) => requestAction(callerOf(of), 'start', { id: pick(of.servers) }),
    resume: (of) => resumeServers(callerOf(of), [pick(of.servers), pick(of.servers)]),
    resumeAll: ({ person }) => resumeAll(db, person.workspaceId),
    follow: () => enforceZeroBalances(ctx),
    notices: () => sendZeroNotices(ctx),
    credit: ({ person }) =>
      credit(db, person.workspaceId, pick(['credit', 'card', 'onchain']), BigInt(1 + Math.floor(random() * 2_000_000))),
    more: ({ person }) => credit(db, person.workspaceId, 'onchain', 7_300_000_000n),
    hold: async ({ person }) => {
      keys += 1;
      const key = `at-once:${keys}`;
      holds.push(await inLedgerTransaction(db, (trx) => hold(trx, person.workspaceId, key, asMicro(100n))));
    },
    endHold: async () => {
      const id = holds.length > 0 ? pick(holds) : null;
      if (id !== null) await inLedgerTransaction(db, (trx) => pick([release, capture])(trx, id));
    },
    disable: async ({ person }) => {
      await disableClient(asOperator, { id: person.workspaceId, reason: 'At once', terminate: false });
      await enableClient(asOperator, person.workspaceId);
    },
    seal: () => sql`select ledger_end()`.execute(db),
  };
  const names = Object.keys(acts).flatMap((name) => Array<string>(OFTEN[name] ?? SELDOM[name] ?? 3).fill(name));
  let done = 0;
  let refused = 0;
  const failures: string[] = [];
  const somebody = async () => {
    for (let n = 0; n < ACTS / AT_ONCE; n += 1) {
      const name = pick(names);
      try {
        await acts[name]!(pick(people));
        done += 1;
      } catch (error) {
        // Also a busy machine, which would be asked again.
        if (error instanceof PublicError || isOverload(error)) refused += 1;
        else failures.push(`${name}: ${String(error)}`);
      }
    }
  };
  console.log(`at once: seed ${seed}`);
  await Promise.all(Array.from({ length: AT_ONCE }, somebody));
  for (const { person } of people) await meterWorkspace(db, person.workspaceId);
  const { counts, findings } = await verifyLedger(db);
  const { rows } = await sql<{ deadlocks: bigint }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(db);
  console.log(
    `at once: n = ${ACTS} acts, ${done} done, ${refused} refused, ${counts.journals} journals, ${counts.segments} intervals, ${rows[0]!.deadlocks} deadlocks`,
  );
  expect(failures).toEqual([]);
  expect(findings).toEqual([]);
  expect(rows[0]!.deadlocks).toBe(0n);
  expect(done).toBeGreaterThan(ACTS / 3);
});

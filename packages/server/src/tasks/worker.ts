import { type RawBuilder, sql } from 'kysely';
import type { Topics } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { limitConcurrency } from '../loops/concurrency.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { advance, isNews } from './apply.ts';
import { decide } from './decide.ts';
import { type PlacedFacts, placedTasks, type WaitingGroup, waitingGroups } from './facts.ts';
import { placeTasks, serversWithRoom } from './place.ts';
import { type MayStart, mayStart } from './waiting.ts';
import { cancelWaiting, holdWaiting, MAX_AT_ONCE, queueWaiting } from './waitingTasks.ts';

/** Hints may be lost, and deadlines pass without any: all unfinished tasks are looked at this often. */
const PASS_MS = 1_000;
const PAGE = 500;
/** Limits the connections that this loop takes from the pool. */
const MAX_CONCURRENT = 4;

type Ctx = Pick<Context, 'db' | 'log' | 'secrets'>;

/** Gives tasks their places and follows them to their end. Any number of these workers may run on one database. */
export function startTaskWorker(ctx: Context): { stop(): Promise<void> } {
  const hints = newHints();
  let passDueAt = 0;
  const loop = repeatEvery(ctx, PASS_MS, 'tasks', async () => {
    const isPass = performance.now() >= passDueAt;
    if (isPass) passDueAt = performance.now() + PASS_MS;
    const instanceIds = isPass ? null : await serversOf(ctx, hints.take());
    if (isPass) hints.take();
    if (await lookAfterTasks(ctx, instanceIds)) {
      passDueAt = 0;
      loop.now();
    }
  });
  const unsubscribe = [
    ctx.bus.subscribe('task', ({ instanceId }) => {
      hints.instances.add(instanceId);
      loop.now();
    }),
    ctx.bus.subscribe('changed', (event) => {
      if (hints.note(event)) loop.now();
    }),
    ctx.bus.subscribe('missed', () => {
      passDueAt = 0;
      loop.now();
    }),
  ];
  return {
    async stop() {
      for (const end of unsubscribe) end();
      await loop.stop();
    },
  };
}

/**
 * One look at the unfinished tasks of these servers, or of all. Returns whether more is to be done at once. What fails
 * is logged and delays no other task.
 */
export async function lookAfterTasks(ctx: Ctx, instanceIds: readonly number[] | null): Promise<boolean> {
  if (instanceIds?.length === 0) return false;
  const turns = limitConcurrency(MAX_CONCURRENT);
  await followPlaced(ctx, instanceIds, turns);
  const groups = (await waitingGroups(ctx.db, instanceIds)).map((group) => ({ group, verdict: mayStart(group) }));
  const startable = groups.filter(({ group, verdict }) => verdict.may === 'now' && group.isDue);
  const byServer = Map.groupBy(
    startable.map(({ group }) => group),
    ({ instanceId }) => instanceId,
  );
  const withRoom = await serversWithRoom(ctx.db, [...byServer.keys()]);
  const placed = await Promise.all(
    withRoom.map((id) => turns(() => attempt(ctx, { instanceId: id }, 0, () => placeAll(ctx, id, byServer.get(id)!)))),
  );
  const told = await Promise.all(
    groups.map(({ group, verdict }) =>
      turns(() => attempt(ctx, { instanceId: group.instanceId }, 0, () => tell(ctx, group, verdict))),
    ),
  );
  return placed.some((count) => count === MAX_ROUNDS) || told.some((count) => count === MAX_AT_ONCE);
}

type Turns = ReturnType<typeof limitConcurrency>;

/** What is due of tasks whose run has a container. */
async function followPlaced(ctx: Ctx, instanceIds: readonly number[] | null, turns: Turns): Promise<void> {
  const only = instanceIds ? sql`t.instance_id = any(${[...instanceIds]}::int[])` : sql`true`;
  for (let after = 0, isMore = true; isMore; ) {
    const page = await placedTasks(ctx.db, sql`${only} and t.id > ${after}`, PAGE);
    await Promise.all(
      page
        .filter((facts) => isNews(facts, decide(facts)))
        .map((facts) => turns(() => attempt(ctx, { taskId: facts.task.id }, undefined, () => follow(ctx, facts)))),
    );
    isMore = page.length === PAGE;
    after = page.at(-1)?.task.id ?? 0;
  }
}

async function follow(ctx: Ctx, facts: PlacedFacts): Promise<void> {
  const isSettled = await advance(ctx, facts, { canRetry: decide(facts).do === 'retry' });
  if (!isSettled) await advance(ctx, facts, { canRetry: true });
}

/** More rounds than this for one server wait for the next look, so that a long queue does not delay the others. */
const MAX_ROUNDS = 10;

/** Until nothing more has room. Returns the number of rounds. */
async function placeAll(ctx: Ctx, instanceId: number, groups: readonly WaitingGroup[]): Promise<number> {
  for (let round = 0; round < MAX_ROUNDS; round += 1)
    if ((await placeTasks(ctx, instanceId, groups)) === 0) return round;
  return MAX_ROUNDS;
}

/** Lets waiting tasks show why they wait, or cancels them. Returns how many were changed. */
async function tell(ctx: Ctx, group: WaitingGroup, verdict: MayStart): Promise<number> {
  switch (verdict.may) {
    case 'never':
      return cancelWaiting(ctx, group, verdict.reason);
    case 'later': {
      const isTold = group.status === 'scheduled' && group.statusReason === verdict.reason;
      return group.isDue && !isTold ? holdWaiting(ctx, group, verdict.reason) : 0;
    }
    case 'now':
      return group.isDue && group.status !== 'in queue' ? queueWaiting(ctx, group) : 0;
  }
}

async function attempt<T>(ctx: Ctx, about: object, otherwise: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    ctx.log.error({ err: error, ...about }, 'a task could not be followed; it is tried again');
    return otherwise;
  }
}

interface Hints {
  instances: Set<number>;
  containers: Set<number>;
  projects: Set<number>;
  storages: Set<number>;
  workspaces: Set<number>;
}

const emptyHints = (): Hints => ({
  instances: new Set(),
  containers: new Set(),
  projects: new Set(),
  storages: new Set(),
  workspaces: new Set(),
});

function newHints() {
  let hints = emptyHints();
  return {
    get instances() {
      return hints.instances;
    },
    /** Whether a task may depend on what changed. */
    note({ entity, id, workspaceId }: Topics['changed']): boolean {
      switch (entity) {
        case 'docker-container':
          return note(hints.containers, id);
        case 'instance-rented':
        case 'self-hosted-instance':
          return note(hints.instances, id);
        case 'project':
          return note(hints.projects, id);
        case 'storage':
          return note(id === null ? hints.workspaces : hints.storages, id ?? workspaceId);
        case 'client':
          return note(hints.workspaces, workspaceId);
        default:
          return false;
      }
    },
    /** All since the last time. */
    take(): Hints {
      const taken = hints;
      hints = emptyHints();
      return taken;
    },
  };
}

function note(ids: Set<number>, id: number | null): boolean {
  if (id === null) return false;
  ids.add(id);
  return true;
}

/** The servers on which unfinished tasks may be affected. */
async function serversOf({ db }: Pick<Context, 'db'>, hints: Hints): Promise<number[]> {
  const unfinished = sql`t.status in ('new', 'scheduled', 'in queue', 'running', 'canceling')`;
  const ofTasks = (column: RawBuilder<unknown>, ids: Set<number>) => sql`select t.instance_id as id from task t
    where ${column} = any(${[...ids]}::int[]) and ${unfinished}`;
  const parts = [
    ...(hints.containers.size > 0
      ? [
          sql`select c.instance_id as id from container c
          where c.id = any(${[...hints.containers]}::int[]) and c.task_run_id is not null`,
        ]
      : []),
    ...(hints.projects.size > 0 ? [ofTasks(sql`t.project_id`, hints.projects)] : []),
    ...(hints.storages.size > 0 ? [ofTasks(sql`t.storage_id`, hints.storages)] : []),
    ...(hints.workspaces.size > 0 ? [ofTasks(sql`t.workspace_id`, hints.workspaces)] : []),
  ];
  if (parts.length === 0) return [...hints.instances];
  const { rows } = await sql<{
    id: number;
  }>`select distinct id from (${sql.join(parts, sql` union all `)}) ids`.execute(db);
  return [...new Set([...hints.instances, ...rows.map(({ id }) => id)])];
}

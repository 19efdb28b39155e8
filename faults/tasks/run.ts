import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { TASK_ENDED } from '@stagi/contract/taskRules.ts';
import { limitConcurrency } from '@stagi/server/src/loops/concurrency.ts';
import type { Random } from '../link/random.ts';
import { retryUntilAnswered } from '../retryUntilAnswered.ts';
import { until } from '../until.ts';
import { auditTask, leftovers, type TaskAudit } from './audit.ts';
import { createTaskBed, type TaskBed } from './bed.ts';
import { EASY, fieldsOf, type Work } from './work.ts';

export interface TasksPlan {
  servers: number;
  tasks: number;
  /** Tasks before the kills, whose starts are timed. */
  calm: number;
  daemonKills: number;
  platformKills: number;
  /** Of the network, between daemons and platform or its S3 service. */
  cuts: number;
}

export interface TasksReport extends TaskAudit {
  tasks: number;
  daemonKills: number;
  platformKills: number;
  cuts: number;
  /** From the row of a task to the start of its container by Docker, where there was room. */
  startMs: number[];
  left: string[];
  seconds: number;
}

type Blow = 'daemon' | 'platform' | 'cut';

const AT_ONCE = 4;
const PATIENCE_MS = 600_000;
/** Larger than what is uploaded whole. */
const LARGE_BYTES = 70_000_000;

/** Tasks run while daemons and the platform are killed and the network is cut; then each of them is accounted for. */
export async function runTasks(plan: TasksPlan, random: Random, say: (line: string) => void): Promise<TasksReport> {
  const bed = await createTaskBed(random, plan);
  const begun = performance.now();
  try {
    const audit: TaskAudit = { ended: {}, excused: [], runs: 0, starts: 0, files: 0, bytes: 0, wrong: [] };
    const submitted = new Map<number, Work>();
    const startMs = await runCalmly(bed, plan.calm, submitted);
    say(`${plan.calm} tasks ran in ${((performance.now() - begun) / 1000).toFixed(1)} s without kills`);

    const works = Array.from({ length: plan.tasks }, (_, n) => workOf(n, random));
    const [blows] = await Promise.all([strike(bed, plan, random, say), submitAll(bed, works, random, submitted)]);
    await until(
      'all tasks have ended',
      async () => (await endedCount(bed)) === plan.calm + plan.tasks,
      PATIENCE_MS,
      250,
    );
    say(`all tasks ended after ${((performance.now() - begun) / 1000).toFixed(1)} s`);

    const limit = limitConcurrency(AT_ONCE);
    await Promise.all([...submitted].map(([id, work]) => limit(() => auditTask(bed, id, work, audit))));
    const left = await leftovers(bed);
    const failure = bed.starts.failure();
    if (failure) audit.wrong.push(failure);
    if (audit.starts !== bed.starts.all().length) audit.wrong.push('Docker started containers of no task');
    return { ...audit, ...blows, tasks: submitted.size, startMs, left, seconds: (performance.now() - begun) / 1000 };
  } catch (error) {
    console.error(bed.platform.log().slice(-4_000));
    throw error;
  } finally {
    await bed.cleanUp();
  }
}

/** A mixture: long and short, small and large, some that fail, some that are tried again, some that are canceled. */
function workOf(n: number, random: Random): Work {
  return {
    cpus: random.pick([0.2, 0.4, 0.7]),
    tenths: Math.floor(random.between(0, 30)),
    bytes: Math.floor(random.between(0, 200_000)),
    exit: n % 10 === 3 ? 3 : n % 20 === 6 ? 'first' : 0,
    retries: n % 20 === 6 ? 1 : 0,
    priority: random.pick(['low', 'normal', 'high'] as const),
    cancelAfterMs: n % 10 === 9 ? random.between(0, 6_000) : null,
    ...(n % 20 === 10 ? { cpus: 1, bytes: LARGE_BYTES } : {}),
  };
}

async function submit(bed: TaskBed, server: number, work: Work): Promise<number> {
  const idempotencyKey = crypto.randomUUID();
  const input = {
    projectRef: { id: bed.projectId },
    instanceRef: { id: server },
    storageRef: { id: bed.storageId },
    ...fieldsOf(work),
  };
  const answer = await retryUntilAnswered(() => bed.person.client(api.tasks.create, input, { idempotencyKey }));
  return answer!.entity.id;
}

async function runCalmly(bed: TaskBed, count: number, submitted: Map<number, Work>): Promise<number[]> {
  const startMs: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const id = await submit(bed, bed.servers[n % bed.servers.length]!.id, EASY);
    submitted.set(id, EASY);
    const start = await until(
      'the container of the task is started',
      async () => {
        const run = await bed.pool.db
          .selectFrom('task_run')
          .innerJoin('task', 'task.id', 'task_run.task_id')
          .select(['container_id', 'task.created_at'])
          .where('task_id', '=', id)
          .executeTakeFirst();
        const started = run?.container_id ? bed.starts.of(run.container_id)[0] : undefined;
        return started && { ms: started.at - run!.created_at.getTime() };
      },
      60_000,
      20,
    );
    startMs.push(start.ms);
  }
  return startMs;
}

async function submitAll(bed: TaskBed, works: Work[], random: Random, submitted: Map<number, Work>): Promise<void> {
  const gaps = works.map(() => random.between(0, 300));
  const limit = limitConcurrency(AT_ONCE);
  const canceled: Promise<void>[] = [];
  await Promise.all(
    works.map((work, n) =>
      limit(async () => {
        await pause(gaps[n]);
        const id = await submit(bed, bed.servers[n % bed.servers.length]!.id, work);
        submitted.set(id, work);
        if (work.cancelAfterMs !== null) canceled.push(cancelLater(bed, id, work.cancelAfterMs));
      }),
    ),
  );
  await Promise.all(canceled);
}

/** One that has ended by then refuses it, which is fine: its own end is then audited. */
async function cancelLater(bed: TaskBed, id: number, afterMs: number): Promise<void> {
  await pause(afterMs);
  await retryUntilAnswered(
    () => bed.person.client(api.tasks.cancel, { id }),
    async () => true,
  ).catch((error: { status?: number }) => {
    if (error.status !== 200) throw error;
  });
}

async function endedCount({ pool }: TaskBed): Promise<number> {
  const { count } = await pool.db
    .selectFrom('task')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('status', 'in', [...TASK_ENDED])
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Blows in random order, each at a random moment after another share of the tasks has ended. */
async function strike(bed: TaskBed, plan: TasksPlan, random: Random, say: (line: string) => void) {
  const blows: Blow[] = [
    ...Array.from({ length: plan.daemonKills }, () => 'daemon' as const),
    ...Array.from({ length: plan.platformKills }, () => 'platform' as const),
    ...Array.from({ length: plan.cuts }, () => 'cut' as const),
  ];
  const ended = async () => (await endedCount(bed)) - plan.calm;
  const struck = { daemonKills: 0, platformKills: 0, cuts: 0 };
  const total = blows.length;
  for (let n = 0; n < total; n += 1) {
    const [blow] = blows.splice(Math.floor(random.next() * blows.length), 1);
    const wanted = Math.floor((plan.tasks * n) / (total + 1));
    await until(`${wanted} tasks have ended`, async () => (await ended()) >= wanted, PATIENCE_MS);
    await pause(random.between(0, 1_500));
    const moment = `after ${await ended()} tasks`;
    if (blow === 'daemon') {
      const { id, daemon } = random.pick(bed.servers);
      await daemon.end('SIGKILL');
      await pause(random.between(0, 2_000));
      daemon.start();
      struck.daemonKills += 1;
      say(`${moment}: killed the daemon of server ${id}`);
    } else if (blow === 'platform') {
      await bed.platform.stop('SIGKILL');
      await pause(random.between(0, 1_000));
      await bed.platform.start();
      struck.platformKills += 1;
      say(`${moment}: killed the platform`);
    } else {
      struck.cuts += 1;
      say(`${moment}: ${await cut(bed, random)}`);
    }
  }
  return struck;
}

async function cut({ proxies }: TaskBed, random: Random): Promise<string> {
  const index = Math.floor(random.next() * proxies.length);
  const proxy = proxies[index]!;
  const name = index === 0 ? 'the link to the platform' : 'the way to the S3 service';
  const kind = random.pick(['reset', 'blackhole', 'refuse', 'slow', 'halfOpen'] as const);
  const ms = Math.round(random.between(500, 6_000));
  if (kind === 'reset') return `reset ${proxy.reset()} connections of ${name}`;
  if (kind === 'halfOpen') return `left ${proxy.halfOpen()} connections of ${name} half open`;
  if (kind === 'slow') proxy.set({ latencyMs: 200, jitterMs: 200, bytesPerSecond: 100_000 });
  else proxy.set({ [kind]: true });
  await pause(ms);
  proxy.set({ latencyMs: 0, jitterMs: 0, bytesPerSecond: null, blackhole: false, refuse: false });
  // What waited in a black hole is delivered; a network that was gone loses it.
  if (kind === 'blackhole') proxy.reset();
  return `${kind} for ${ms} ms on ${name}`;
}

import { encodeRecord } from '@stagi/contract/frames.ts';
import { openLog } from '@stagi/server/src/logging/testing/shipped.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { makePartitions } from '@stagi/server/src/usageSamples/partitions.ts';
import { sql } from 'kysely';
import type { Furnished } from './furnish.ts';
import type { Machine } from './machines.ts';
import { servingLines, trainingLines } from './madeUpFiles.ts';
import type { Tasks } from './tasks.ts';

/** Gives what was made within a minute a past: when it was made and how long it took, logs and figures of the last hours. */
export async function giveAPast(app: TestApp, made: Furnished, tasks: Tasks): Promise<void> {
  await printLogs(made, tasks);
  await measure(app, made);
  await age(app, made, tasks);
}

async function printLogs({ machines, containers }: Furnished, tasks: Tasks): Promise<void> {
  const minute = 60;
  await print(machines.inference, containers.model, 1, servingLines(360), 40 * minute);
  await print(machines.inference, containers.cache, 2, CACHE_LINES, 55 * minute);
  await print(machines.training, containers.board, 3, ['Serving /runs on http://0.0.0.0:6006'], 19 * 60 * minute);
  await print(machines.workstation, containers.notebook, 4, NOTEBOOK_LINES, 50 * minute);
  await print(machines.training, tasks.runs[tasks.training]!, 5, trainingLines(31, 60), 96 * minute);
  await print(machines.training, tasks.runs[tasks.trained]!, 6, trainingLines(40, 40), 84 * minute, 31 * 60 * minute);
  await print(machines.workstation, tasks.runs[tasks.evaluated]!, 7, EVALUATION_LINES, 6 * minute, 22 * 60 * minute);
  await print(machines.workstation, tasks.runs[tasks.failed]!, 8, FAILED_LINES, 20, 26 * 60 * minute);
}

/** Spreads lines over so many seconds that end some seconds ago. */
async function print(
  { daemon }: Machine,
  containerId: number,
  stream: number,
  lines: readonly string[],
  seconds: number,
  endedAgo = 3,
): Promise<void> {
  const dockerId = `${containerId}`.padStart(4, '0').repeat(16);
  const log = await openLog(daemon, containerId, dockerId, stream);
  const begunAt = Date.now() - (seconds + endedAgo) * 1000;
  await log.print(
    ...lines.map((text, index) =>
      encodeRecord({
        timeNs: BigInt(Math.round(begunAt + (seconds * 1000 * (index + 1)) / lines.length)) * 1_000_000n + 417_000n,
        stream: /^(WARN|ERROR|Traceback| {2}File|FileNotFoundError)/.test(text) ? 'stderr' : 'stdout',
        partial: false,
        text: Buffer.from(text),
      }),
    ),
  );
}

const CACHE_LINES = [
  'Server initialized, maxmemory 3.5gb, policy allkeys-lru',
  'Ready to accept connections tcp',
  'Background saving started',
  'DB saved on disk: 184,220 keys',
  'Background saving terminated with success',
];
const NOTEBOOK_LINES = [
  'Serving notebooks from local directory: /home/jovyan/work',
  'Kernel started: explore-glare.ipynb',
  'Saving file at /explore-glare.ipynb',
  'Saving file at /explore-glare.ipynb',
  'Kernel started: label-quality.ipynb',
];
const EVALUATION_LINES = [
  'Reading test.csv: 1,840 pictures, 4 classes',
  'Using 1 GPU: NVIDIA GeForce RTX 4090',
  ...[460, 920, 1380, 1840].map((done) => `evaluated ${done}/1840 pictures, 18.9 ms each`),
  'mAP@50 0.931',
  'wrote /output/metrics.csv, /output/report.json, /output/plots/recall.svg',
];
const FAILED_LINES = [
  'Traceback (most recent call last):',
  '  File "/workspace/evaluate.py", line 33, in <module>',
  '    main()',
  '  File "/workspace/evaluate.py", line 22, in main',
  '    rows = mean_average_precision(model, Welds(data / f"{args.split}.csv"))',
  "FileNotFoundError: [Errno 2] No such file or directory: '/input/tset.csv'",
];

/** An hour of figures: of servers, of their GPUs, of containers. */
async function measure({ ctx: { db } }: TestApp, { servers, containers }: Furnished): Promise<void> {
  await makePartitions(db, new Date());
  const server = (id: number, cores: number, memory: number, total: number, disk: number) =>
    sql`insert into usage_sample_15s (instance_id, container_id, gpu, at, samples, cpu, memory, memory_total, received, sent,
        read, written, disk, disk_total)
      select ${id}::int, 0, -1, date_bin('15 seconds', now(), 'epoch') - n * interval '15 seconds', 1,
        ${cores} * (0.55 + 0.2 * sin(n / 11.0) + 0.06 * sin(n * 2.3)), ${memory}::float8 * (1 + 0.04 * sin(n / 23.0)), ${total}::float8,
        18e6 * (1 + 0.7 * sin(n / 7.0)), 6e6 * (1 + 0.5 * cos(n / 9.0)), 140e6 * (1 + sin(n / 13.0)),
        22e6 * (1 + cos(n / 17.0)), ${disk}::float8, ${disk}::float8 / 0.42
      from generate_series(0, 239) n`.execute(db);
  const gpus = (id: number, count: number, use: number, memory: number, total: number, power: number) =>
    sql`insert into usage_sample_15s (instance_id, container_id, gpu, at, samples, gpu_use, gpu_memory, gpu_memory_total,
        gpu_temperature, gpu_power)
      select ${id}::int, 0, gpu, date_bin('15 seconds', now(), 'epoch') - n * interval '15 seconds', 1,
        least(100, ${use} + 7 * sin(n / 5.0 + gpu) + 4 * sin(n * 1.9)), ${memory}::float8 * (1 + 0.02 * sin(n / 19.0 + gpu)), ${total}::float8,
        61 + 5 * sin(n / 20.0 + gpu), ${power} + 24 * sin(n / 5.0 + gpu)
      from generate_series(0, 239) n, generate_series(0, ${count - 1}) gpu`.execute(db);
  const container = (on: number, id: number, cores: number, memory: number) =>
    sql`insert into usage_sample_15s (instance_id, container_id, gpu, at, samples, cpu, memory, received, sent, read, written)
      select ${on}::int, ${id}::int, -1, date_bin('15 seconds', now(), 'epoch') - n * interval '15 seconds', 1,
        ${cores} * (0.6 + 0.25 * sin(n / 8.0) + 0.08 * sin(n * 1.7)), ${memory}::float8 * (1 + 0.03 * sin(n / 29.0)),
        240e3 * (1 + 0.8 * sin(n / 6.0)), 910e3 * (1 + 0.7 * sin(n / 6.5)), 2e6 * (1 + sin(n / 31.0)), 1e5 * (1 + cos(n / 5.0))
      from generate_series(0, 239) n`.execute(db);
  await server(servers.training, 24, 148e9, 257e9, 420e9);
  await server(servers.inference, 4, 19e9, 34e9, 84e9);
  await server(servers.workstation, 12, 51e9, 137e9, 840e9);
  await gpus(servers.training, 2, 91, 71e9, 85.9e9, 352);
  await gpus(servers.inference, 1, 74, 19.4e9, 25.7e9, 61);
  await gpus(servers.workstation, 2, 38, 11e9, 25.7e9, 214);
  await container(servers.inference, containers.model, 2.4, 17.2e9);
  await container(servers.inference, containers.cache, 0.12, 1.4e9);
  await container(servers.training, containers.board, 0.2, 0.8e9);
  await container(servers.workstation, containers.notebook, 3.1, 14e9);
}

/** Sizes of objects, which are a few bytes here. */
const SIZES: Record<string, number> = { pt: 412e6, gguf: 5.7e9, jpg: 3.1e6, csv: 1.9e6, pdf: 8.4e6, svg: 14_200 };

async function age({ ctx: { db } }: TestApp, made: Furnished, tasks: Tasks): Promise<void> {
  const { maya, servers, containers, storages, projects } = made;
  await db.transaction().execute(async (trx) => {
    const run = (text: string) => sql.raw(text).execute(trx);
    // What is written once and never changed has triggers that say so.
    await run('set local session_replication_role = replica');
    const ago = (table: string, where: string, hours: number, ...columns: string[]) =>
      run(
        `update ${table} set ${columns.map((column) => `${column} = now() - interval '1 hour' * ${hours}`).join(', ')} where ${where}`,
      );
    await ago('billing_transaction', `workspace_id = ${maya.workspaceId} and type = 'Deposit'`, 290, 'at');
    await ago('membership', `workspace_id = ${maya.workspaceId} and user_id = ${maya.userId}`, 292, 'created_at');
    await run(
      `update membership set created_at = now() - interval '1 hour' * (290 - 40 * (user_id - ${maya.userId})) where user_id > ${maya.userId} and workspace_id = ${maya.workspaceId}`,
    );
    await run(
      `update ssh_key set created_at = now() - interval '1 hour' * (280 - 60 * (id % 3)) where user_id = ${maya.userId}`,
    );
    await run(`update instance_ssh_key set installed_at = now() - interval '130 hours'`);
    await run(
      `update api_token set created_at = now() - interval '1 hour' * (240 - 70 * (id % 2)), last_used_at = now() - interval '41 minutes' where user_id = ${maya.userId}`,
    );
    await ago('instance', `id = ${servers.workstation}`, 244, 'created_at');
    await run(`update instance set status_since = now() - interval '52 hours' where id = ${servers.workstation}`);
    for (const [id, hours] of [
      [containers.model, 44],
      [containers.cache, 44],
      [containers.board, 120],
      [containers.notebook, 70],
    ] as const) {
      await ago('container', `id = ${id}`, hours, 'created_at');
      await ago('container', `id = ${id}`, Math.min(hours, 19), 'status_since', 'started_at');
      await run(
        `update container_run set started_at = now() - interval '${Math.min(hours, 19)} hours', from_ns = 0 where container_id = ${id}`,
      );
    }
    await ago('storage', `id in (${storages.datasets}, ${storages.checkpoints})`, 262, 'created_at', 'status_since');
    await run(
      `update s3_object set modified_at = now() - interval '1 hour' * (30 + (octet_length(key) * 37 % 190)), size = case ${Object.entries(
        SIZES,
      )
        .map(
          ([end, size]) =>
            `when convert_from(key, 'UTF8') like '%.${end}' and convert_from(key, 'UTF8') !~ '^tasks/.*(csv|svg)$' then ${size}`,
        )
        .join(' ')} else size end`,
    );
    await run(
      `update s3_bucket b set used_bytes = coalesce((select sum(counted) from s3_object o where o.bucket_id = b.id), 0)`,
    );
    await run(`insert into storage_sample (storage_id, at, used_bytes, object_count)
      select s.id, date_trunc('hour', now()) - n * interval '1 hour', b.used_bytes * (1 - n / 420.0), greatest(1, b.object_count - n / 30)
      from storage s join s3_bucket b on b.id = s.bucket_id, generate_series(0, 260) n where s.workspace_id = ${maya.workspaceId}
      on conflict do nothing`);
    await run(
      `update s3_key set created_at = now() - interval '180 hours', last_used_at = now() - interval '26 minutes' where purpose = 'person'`,
    );
    for (const id of Object.values(projects)) await ago('project', `id = ${id}`, 256, 'created_at', 'status_since');
    await run(`update project set last_push_at = now() - interval '47 hours' where id = ${projects.inspector}`);
    await run(`update project_activity set at = now() - interval '1 hour' * (256 - id * 9)`);
    await run(`update project_instance set attached_at = now() - interval '120 hours'`);
    for (const [id, begun, hours] of [
      [tasks.failed, 26, 0.01],
      [tasks.evaluated, 22, 0.11],
      [tasks.trained, 32.4, 1.4],
      [tasks.training, 1.6, null],
    ] as const) {
      const end = hours === null ? 'null' : `now() - interval '1 hour' * ${begun - hours}`;
      await run(
        `update task set created_at = now() - interval '1 hour' * ${begun + 0.02}, started_at = now() - interval '1 hour' * ${begun}, finished_at = ${end}, status_since = coalesce(${end}, now() - interval '1 hour' * ${begun}) where id = ${id}`,
      );
      await run(`update task_run set created_at = now() - interval '1 hour' * ${begun + 0.02}, started_at = now() - interval '1 hour' * ${begun}, finished_at = ${end}, ended_at = ${end},
        cost_micro = case when ${end} is null then 0 else price_micro_per_hour * ${hours ?? 0} end where task_id = ${id}`);
      await run(
        `update task set cost_micro = (select sum(cost_micro) from task_run where task_id = ${id}) where id = ${id}`,
      );
      await run(`update task_event e set at = case when n = total and ${end} is not null then ${end} else now() - interval '1 hour' * ${begun} + n * interval '2 seconds' end
        from (select id, row_number() over (order by id) n, count(*) over () total from task_event where task_id = ${id}) o where o.id = e.id`);
      await run(`update container set started_at = now() - interval '1 hour' * ${begun} where id = ${tasks.runs[id]}`);
    }
    await ago('task', `id = ${tasks.queued}`, 0.7, 'created_at', 'status_since');
    await run(`update task_event set at = now() - interval '42 minutes' where task_id = ${tasks.queued}`);
    await ago('task_schedule', 'true', 150, 'created_at');
    await run(
      `update audit set at = now() - interval '1 hour' * (290 - seq * 2) where workspace_id = ${maya.workspaceId} and seq < 140`,
    );
    await run(`update app_user set created_at = now() - interval '292 hours'`);
  });
}

/**
 * What the samples of 1,000 servers with 8 containers each cost, on a PostgreSQL that writes to disk as in production:
 * writing one sample of every server, thinning five minutes of them, and reading the charts of one. Fails when a round
 * of samples takes more than a fifth of the 15 s between two, or the thinning of five minutes more than a tenth of
 * those. `--servers=` makes it smaller.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { SAMPLE_SECONDS, type UsageSample } from '@stagi/contract/usageSample.ts';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import { makePartitions } from '@stagi/server/src/usageSamples/partitions.ts';
import { writeSamples } from '@stagi/server/src/usageSamples/record.ts';
import { thinSamples } from '@stagi/server/src/usageSamples/thin.ts';
import { sql } from 'kysely';
import { timed } from './million.ts';
import { median } from './report.ts';

const SERVERS = Number(process.argv.find((argument) => argument.startsWith('--servers='))?.slice(10) ?? 1_000);
const CONTAINERS = 8;
/** Servers whose samples come within the same second. */
const BATCH = Math.ceil(SERVERS / SAMPLE_SECONDS);
const ROUNDS = 21;
const READS = 50;
const WRITE_WITHIN_MS = (SAMPLE_SECONDS * 1000) / 5;
const THIN_WITHIN_MS = 30_000;

const folder = mkdtempSync(join(tmpdir(), 'stagi-usage-'));
const postgres = await startEmbeddedPostgres({ dataDir: folder, log: { info() {}, warn: console.warn } });
process.env.TEST_DATABASE_URL = postgres.url;
const databases = await startTestPostgres();
// Without workers: nothing runs in the background.
const app = await startTestApp({ LOG_LEVEL: 'error' }, { role: 'api' });
const { db } = app.ctx;
const failures: string[] = [];
try {
  const owner = await app.signUp();
  const first = await aRentedInstance(app.ctx, owner);
  await fill(first);
  await makePartitions(db, new Date());
  const batches = await samplesOfAll();
  const rowsOfRound = SERVERS * (CONTAINERS + 1);

  const writes: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    writes.push(
      await timed(async () => {
        for (const batch of batches) await writeSamples(db, batch);
      }),
    );
  const write = median(writes);
  console.log(
    `writing: a sample of ${SERVERS} servers with ${CONTAINERS} containers in ${write.toFixed(0)} ms, ${Math.round(rowsOfRound / (write / 1000))} rows/s possible, ${Math.round(rowsOfRound / SAMPLE_SECONDS)} rows/s needed, n = ${ROUNDS}`,
  );
  if (write > WRITE_WITHIN_MS) failures.push(`a round of samples takes ${write.toFixed(0)} ms`);

  // As if they had come every 15 s over the last five minutes.
  await sql`update usage_sample_15s set at = date_bin('5 minutes', now() - interval '10 minutes', 'epoch')
    + (dense_rank - 1) * interval '15 seconds' from (
      select instance_id as i, container_id as c, at as a, dense_rank() over (partition by instance_id, container_id order by at)
      from usage_sample_15s) ranked
    where i = instance_id and c = container_id and a = at`.execute(db);
  await sql`update usage_thinning set until = date_bin('5 minutes', now() - interval '10 minutes', 'epoch')`.execute(
    db,
  );
  const { n } = (await sql<{ n: number }>`select count(*)::int as n from usage_sample_15s`.execute(db)).rows[0]!;
  const thin = await timed(() => thinSamples(db, new Date()));
  console.log(`thinning: ${n} rows of five minutes in ${thin.toFixed(0)} ms, every 300 s, n = 1`);
  if (thin > THIN_WITHIN_MS) failures.push(`thinning five minutes takes ${thin.toFixed(0)} ms`);

  const reads: number[] = [];
  for (let read = 0; read < READS; read += 1)
    reads.push(await timed(async () => void (await owner.client(api.metrics.rented, { id: first }))));
  console.log(`reading: the last hour of a server in ${median(reads).toFixed(1)} ms, n = ${READS}`);
} finally {
  await app.close();
  await databases.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.error(failure);
if (failures.length > 0) process.exitCode = 1;

/** Copies of the first server, each with its daemon and containers. */
async function fill(server: number): Promise<void> {
  await sql`insert into instance (workspace_id, kind, slug, title, created_by, status, provider, offer, price_per_hour,
      stopped_price_per_hour, host_username)
    select workspace_id, kind, 'many-' || n, title, created_by, status, provider, offer, price_per_hour,
      stopped_price_per_hour, host_username
    from instance, generate_series(2, ${SERVERS}::int) n where id = ${server}`.execute(db);
  await sql`insert into daemon_node (instance_id, conn_epoch) select id, 1 from instance
    on conflict (instance_id) do update set conn_epoch = 1`.execute(db);
  await sql`insert into container (workspace_id, instance_id, slug, title, created_by, status, desired, image, cpus, env_sealed)
    select workspace_id, id, 'c-' || id || '-' || n, 'c', created_by, 'running', 'running', 'busybox', 1, ''
    from instance, generate_series(1, ${CONTAINERS}::int) n`.execute(db);
  await sql`analyze`.execute(db);
}

async function samplesOfAll(): Promise<Parameters<typeof writeSamples>[1][]> {
  const { rows } = await sql<{ id: number; containers: number[] }>`
    select instance_id as id, array_agg(id) as containers from container group by 1 order by 1`.execute(db);
  const used = { received: 1e5, sent: 2e5, read: 3e4, written: 4e4 };
  const all = rows.map(({ id, containers }) => ({
    instanceId: id,
    epoch: 1,
    sample: {
      server: {
        cpu: 12.5,
        memory: 3e10,
        memoryTotal: 6.4e10,
        ...used,
        disk: { used: 2e11, total: 1e12 },
        dataDisk: null,
      },
      gpus: [],
      containers: containers.map((container) => ({ id: container, cpu: 1.5, memory: 2e9, ...used })),
    } satisfies UsageSample,
  }));
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, n) => all.slice(n * BATCH, (n + 1) * BATCH));
}

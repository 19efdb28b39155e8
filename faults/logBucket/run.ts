import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LOG_CRASH_POINTS } from '@stagi/contract/crashPoints.ts';
import { startEmbeddedPostgres } from '@stagi/server/src/db/embedded.ts';
import { inTransaction, openPool, type Pool } from '@stagi/server/src/db/pool.ts';
import { makeLogBucket } from '@stagi/server/src/logBucket/make.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { openStores } from '@stagi/server/src/objects/stores.ts';
import { createSecretBox, loadSecretKey } from '@stagi/server/src/secrets/secretBox.ts';
import { loadSigningKeys } from '@stagi/server/src/sessions/signingKeys.ts';
import { enrolNode } from '@stagi/server/src/testing/daemon.ts';
import { aContainer, aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import { httpSender, type Person, signUp } from '@stagi/server/src/testing/person.ts';
import { type Platform, spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import { sql } from 'kysely';
import type { Random } from '../random.ts';
import { until } from '../until.ts';
import { countRecords } from './audit.ts';
import { makeLog, shipLogs } from './shipLogs.ts';

export interface LogBucketPlan {
  lines: number;
  kills: number;
}

export interface LogBucketReport {
  lines: number;
  kills: number;
  /** Kills while a chunk was decided and not yet known to be in the bucket. */
  withIntent: number;
  /** Kills at each crash point. */
  atPoint: Record<string, number>;
  links: number;
  chunks: number;
  missing: number;
  duplicate: number;
  /** Records of the bucket that are no line as it was printed. */
  wrong: number;
}

const CONTAINERS = 4;
const PATIENCE_MS = 600_000;

/** A daemon ships the logs of some containers while the platform is killed; then each line is looked for in the bucket. */
export async function runLogBucket(
  plan: LogBucketPlan,
  random: Random,
  say: (line: string) => void,
): Promise<LogBucketReport> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-logbucket-'));
  const armed = join(folder, 'crash-point');
  writeFileSync(armed, '');
  writeFileSync(`${armed}.deaths`, '');
  const platform = await spawnPlatform({
    LOG_LEVEL: 'error',
    LOG_COPY_SECONDS: '1',
    STAGI_CRASH_POINT: `@${armed}`,
  });
  const { url } = await startEmbeddedPostgres({ dataDir: join(platform.dataDir, 'postgres'), log: quiet });
  const pool = openPool(url, { max: 4 });
  const stopping = new AbortController();
  try {
    const alice = await signUp(platform.url, httpSender(platform.url), { name: 'Alice', email: 'alice@example.com' });
    const server = await makeServer(platform, pool, alice);
    const logs = server.containers.map((id) => makeLog(id, Math.ceil(plan.lines / CONTAINERS)));
    const lines = logs.reduce((sum, log) => sum + log.lines, 0);
    const report = { lines, kills: 0, withIntent: 0, atPoint: {} as Record<string, number> };
    const shipping = shipLogs(platform.url, await enrolNode(platform.url, server.token), logs, stopping.signal);
    while (report.kills < plan.kills) {
      const wanted = (lines * (report.kills + random.between(20, 80) / 100)) / (plan.kills + 1);
      await until(
        `${Math.floor(wanted)} lines are copied`,
        async () => (await copiedLines(pool)) >= wanted,
        PATIENCE_MS,
      );
      const point = report.kills % 2 === 0 ? LOG_CRASH_POINTS[(report.kills / 2) % LOG_CRASH_POINTS.length]! : null;
      await kill(platform, armed, point);
      if (point) report.atPoint[point] = (report.atPoint[point] ?? 0) + 1;
      report.kills += 1;
      if ((await intents(pool)) > 0) report.withIntent += 1;
      say(`kill ${report.kills} ${point ?? 'at any time'}: ${await copiedLines(pool)} of ${lines} lines were copied`);
      await platform.start();
    }
    const { links } = await shipping;
    await until(
      'all lines are copied',
      async () => (await copiedLines(pool)) === lines && (await intents(pool)) === 0,
      PATIENCE_MS,
    );
    const { blobs } = await openStores({
      dataDir: platform.dataDir,
      s3Locations: [],
      filesLocation: 'local',
    });
    const counted = await countRecords({ db: pool.db, blobs }, server.storageId, logs);
    return { ...report, links, ...counted };
  } catch (error) {
    console.error(platform.log().slice(-4_000));
    throw error;
  } finally {
    stopping.abort();
    await pool.close();
    await platform.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

const quiet = { info: () => {}, warn: () => {} };

interface Server {
  storageId: number;
  containers: number[];
  token: string;
}

/** A rented server with its log bucket, some containers, and an enrolment token. */
async function makeServer(platform: Platform, pool: Pool, owner: Person): Promise<Server> {
  const secrets = createSecretBox(loadSecretKey(null, platform.dataDir));
  const ctx = { db: pool.db, secrets } as Parameters<typeof aContainer>[0];
  const id = await aRentedInstance(ctx, owner);
  await inTransaction(pool.db, (trx) =>
    makeLogBucket(trx, { id, workspaceId: owner.workspaceId, slug: 'logs', title: 'Logs' }),
  );
  const containers: number[] = [];
  for (let n = 0; n < CONTAINERS; n += 1) containers.push(await aContainer(ctx, owner, id));
  const storage = await until('the log bucket is made', () =>
    pool.db
      .selectFrom('storage')
      .select('id')
      .where('instance_id', '=', id)
      .where('status', '=', 'rented')
      .executeTakeFirst(),
  );
  const signing = { keys: await loadSigningKeys(pool.db, secrets), daemonOrigin: platform.url };
  return {
    storageId: storage.id,
    containers,
    token: (await issueEnrolment(signing, pool.db, id, 'rented')).token,
  };
}

async function copiedLines({ db }: Pool): Promise<number> {
  const { rows } = await sql<{
    lines: number;
  }>`select coalesce(sum(copied_seq), 0)::integer as lines from log_copy`.execute(db);
  return rows[0]!.lines;
}

async function intents({ db }: Pool): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::integer as n from log_chunk where state = 'intent'`.execute(db);
  return rows[0]!.n;
}

/** At the crash point, or at once. */
async function kill(platform: Platform, armed: string, point: string | null): Promise<void> {
  if (point) {
    writeFileSync(armed, point);
    await until(`the platform dies at ${point}`, async () => platform.ended() !== null);
    const deaths = readFileSync(`${armed}.deaths`, 'utf8').trim().split('\n');
    if (deaths.at(-1) !== point) throw new Error(`the platform died at ${deaths.at(-1)}, not at ${point}`);
  } else {
    await pause(1);
    await platform.stop('SIGKILL');
  }
}

import { api } from '@stagi/contract/api.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { syncSegments } from '@stagi/server/src/billing/segments.ts';
import { inTransaction } from '@stagi/server/src/db/pool.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { enrolNode } from '@stagi/server/src/testing/daemon.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { sql } from 'kysely';
import { type Machine, startMachine } from './machines.ts';

const GIB = 2 ** 30;
const FACTS = {
  os: 'Ubuntu 24.04.3 LTS',
  kernel: '6.8.0-79-generic',
  arch: 'x64',
  dockerVersion: '28.4.0',
  warnings: [],
};

interface Rented {
  title: string;
  slug: string;
  gpu: { name: string; count: number; memoryGb: number } | null;
  cpu: { name: string; cores: number };
  ramGb: number;
  diskGb: number;
  region: string;
  /** Micro-STAGI an hour. */
  price: bigint;
  stoppedPrice: bigint;
  status: 'online' | 'stopped';
  ip: string;
  hoursAgo: number;
}

const EPYC = 'AMD EPYC 9354 32-Core Processor';

export const RENTED: readonly Rented[] = [
  {
    title: 'Training',
    slug: 'training',
    gpu: { name: 'NVIDIA A100 80GB', count: 2, memoryGb: 80 },
    cpu: { name: EPYC, cores: 32 },
    ramGb: 240,
    diskGb: 1000,
    region: 'eu-north',
    price: 3_400_000n,
    stoppedPrice: 40_000n,
    status: 'online',
    ip: '203.0.113.24',
    hoursAgo: 132,
  },
  {
    title: 'Inference',
    slug: 'inference',
    gpu: { name: 'NVIDIA L4', count: 1, memoryGb: 24 },
    cpu: { name: EPYC, cores: 8 },
    ramGb: 32,
    diskGb: 200,
    region: 'eu-north',
    price: 680_000n,
    stoppedPrice: 8_000n,
    status: 'online',
    ip: '203.0.113.87',
    hoursAgo: 261,
  },
  {
    title: 'Experiments',
    slug: 'experiments',
    gpu: { name: 'NVIDIA L4', count: 1, memoryGb: 24 },
    cpu: { name: EPYC, cores: 8 },
    ramGb: 32,
    diskGb: 200,
    region: 'us-east',
    price: 700_000n,
    stoppedPrice: 8_000n,
    status: 'stopped',
    ip: '198.51.100.61',
    hoursAgo: 190,
  },
];

/** Rents the servers as if at their times. What they cost is metered by whoever sets the clock. */
export async function rentServer({ ctx }: TestApp, { userId, workspaceId }: Person, server: Rented): Promise<number> {
  const { title, slug, gpu, cpu, ramGb, diskGb, region, price, stoppedPrice, ip } = server;
  const offer = { id: slug, region, cpu, ramGb, gpu, disk: { type: 'NVMe', sizeGb: diskGb }, canStop: true };
  return inTransaction(ctx.db, async (trx) => {
    const { rows } = await sql<{ id: number }>`
      insert into instance (workspace_id, kind, slug, title, created_by, created_at, status, status_since, provider,
        machine_state, running_seen_at, offer, price_per_hour, stopped_price_per_hour, host_username, ip, progress)
      select ${workspaceId}::int, 'rented', ${slug}, ${title}, ${userId}::int, metering_clock() - interval '110 seconds',
        'online', metering_clock(), 'nowhere', 'running', metering_clock(), ${JSON.stringify(offer)}::jsonb,
        ${price}::bigint, ${stoppedPrice}::bigint, 'ubuntu', ${ip},
        jsonb_build_object('capacity', ${shown(sql`metering_clock() - interval '100 seconds'`)},
          'booting', ${shown(sql`metering_clock() - interval '40 seconds'`)},
          'daemon', ${shown(sql`metering_clock() - interval '6 seconds'`)}, 'ready', ${shown(sql`metering_clock()`)})
      returning id`.execute(trx);
    const id = rows[0]!.id;
    await syncSegments(trx, id);
    await sql`insert into instance_activity (instance_id, at, kind, actor_id, from_status, to_status)
      values (${id}, metering_clock() - interval '110 seconds', 'rented', ${userId}, null, null),
        (${id}, metering_clock() - interval '100 seconds', 'status', null, 'in queue', 'creating'),
        (${id}, metering_clock(), 'status', null, 'creating', 'online')`.execute(trx);
    return id;
  });
}

const shown = (moment: ReturnType<typeof sql>) =>
  sql`to_char((${moment}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export async function stopServer({ ctx }: TestApp, { userId }: Person, id: number): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    await sql`update instance set status = 'powering off', desired = 'stopped', running_seen_at = metering_clock() where id = ${id}`.execute(
      trx,
    );
    await sql`update instance set status = 'stopped', status_since = metering_clock(), machine_state = 'stopped'
      where id = ${id}`.execute(trx);
    await syncSegments(trx, id);
    await sql`insert into instance_activity (instance_id, at, kind, actor_id, from_status, to_status)
      values (${id}, metering_clock() - interval '31 seconds', 'status', ${userId}, 'online', 'powering off'),
        (${id}, metering_clock(), 'status', null, 'powering off', 'stopped')`.execute(trx);
  });
}

const IMAGES = {
  training: [
    { reference: 'pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime', sizeBytes: 7_310_000_000 },
    { reference: 'tensorboard-viewer:2.20', sizeBytes: 812_000_000 },
  ],
  inference: [
    { reference: 'ghcr.io/ggml-org/llama.cpp:server-cuda', sizeBytes: 2_940_000_000 },
    { reference: 'redis:8.2', sizeBytes: 137_000_000 },
  ],
  workstation: [
    { reference: 'quay.io/jupyter/pytorch-notebook:cuda12', sizeBytes: 9_120_000_000 },
    { reference: 'python:3.14-slim', sizeBytes: 121_000_000 },
  ],
};

/** Starts the daemon of a rented server. */
export async function startRented(app: TestApp, id: number, server: Rented): Promise<Machine> {
  const { token } = await inTransaction(app.ctx.db, (trx) => issueEnrolment(app.ctx, trx, id, 'rented'));
  return startMachine(app.url, await enrolNode(app.url, token), {
    facts: factsOf(server.slug, server.cpu, server.ramGb, server.diskGb, server.gpu),
    images: IMAGES[server.slug as 'training' | 'inference'],
    startedAt: new Date(Date.now() - 19 * 3_600_000).toISOString(),
  });
}

/** Attaches the workspace's own machine. */
export async function attachOwn(app: TestApp, { client }: Person): Promise<{ id: number; machine: Machine }> {
  const { entity, daemonToken } = await client(api.selfHosted.create, { title: 'Workstation', slug: 'workstation' });
  const machine = await startMachine(app.url, await enrolNode(app.url, daemonToken), {
    facts: {
      ...factsOf('workstation', { name: 'AMD Ryzen 9 9950X 16-Core Processor', cores: 32 }, 128, 2000, {
        name: 'NVIDIA GeForce RTX 4090',
        count: 2,
        memoryGb: 24,
      }),
      volumeRoots: ['/srv'],
    },
    images: IMAGES.workstation,
    startedAt: new Date(Date.now() - 52 * 3_600_000).toISOString(),
  });
  return { id: entity.id, machine };
}

function factsOf(
  hostname: string,
  cpu: { name: string; cores: number },
  ramGb: number,
  diskGb: number,
  gpu: Rented['gpu'],
): Partial<MachineFacts> {
  return {
    ...FACTS,
    hostname,
    cpuName: cpu.name,
    cpus: cpu.cores,
    ramBytes: ramGb * GIB,
    diskBytes: diskGb * 1e9,
    diskFreeBytes: diskGb * 0.58e9,
    gpus: Array.from({ length: gpu?.count ?? 0 }, (_, index) => ({
      index,
      name: gpu!.name,
      memoryMb: gpu!.memoryGb * 1024,
    })),
  };
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { api } from '@stagi/contract/api.ts';
import { USAGE_FEATURE } from '@stagi/contract/daemon.ts';
import { encodeRecord } from '@stagi/contract/frames.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { enrolNode, type TestDaemon } from '@stagi/server/src/testing/daemon.ts';
import { mailedCode, type Person } from '@stagi/server/src/testing/person.ts';
import { makePartitions } from '@stagi/server/src/usageSamples/partitions.ts';
import type { ScreenName } from '@stagi/web/src/features/home/screens.ts';
import { sql } from 'kysely';
import { localRepository } from './codeRepository.ts';
import { connectLiveDaemon } from './liveDaemon.ts';
import { until } from './waitUntil.ts';

const GB = 1e9;
const LOG = 1;

const FACTS: Partial<MachineFacts> = {
  hostname: 'gpu-01',
  os: 'Ubuntu 24.04',
  kernel: '6.8.0-71-generic',
  cpuName: 'AMD EPYC 9354',
  cpus: 32,
  ramBytes: 256 * 2 ** 30,
  diskBytes: 3_840 * GB,
  diskFreeBytes: 2_610 * GB,
  gpus: [0, 1].map((index) => ({ index, name: 'NVIDIA L40S', memoryMb: 46_068 })),
  dockerVersion: '28.5.1',
};

/**
 * A workspace for pictures of the product: a server with two GPUs, a container that trains on it, and the repository of
 * what it runs. Answers the address of each screen.
 */
export async function furnishForPictures(
  app: TestApp,
  person: Person,
): Promise<{ screens: Record<ScreenName, string>; close(): Promise<void> }> {
  const { client } = person;
  const { entity: server, daemonToken } = await client(api.selfHosted.create, { title: 'GPU 01', slug: 'gpu-01' });
  const daemon = await connectLiveDaemon(app.url, await enrolNode(app.url, daemonToken), {
    facts: FACTS,
    features: ['tasks', 'edit', 'images', USAGE_FEATURE],
  });
  const { entities } = await client(api.containers.create, {
    instanceRef: { id: server.id },
    title: 'Fine-tune Qwen3 8B',
    slug: 'fine-tune',
    dockerImage: 'pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime',
    command: 'python -m trainer.train --config configs/qwen3-8b.yaml',
    cpus: 16,
    memoryGb: 96,
    gpuIds: [0, 1],
    directoryMappings: [{ host: '/data/checkpoints', container: '/checkpoints' }],
    restartPolicy: 'no',
    count: 1,
  });
  const container = entities[0]?.id ?? 0;
  daemon.applyDesired(await daemon.desired(({ containers }) => containers.length > 0));
  await until('the container runs', 20_000, async () => {
    const { entity } = await client(api.containers.view, { id: container });
    return entity.status === 'running';
  });
  await printLog(daemon, container);
  await fillCharts(app, server.id);
  const project = await pushProject(app, person);
  return {
    screens: {
      server: `/cloud/self-instances/${server.id}/metrics`,
      logs: `/cloud/containers/${container}/logs`,
      code: `/projects/${project}/code/tree`,
      model: '/models/qwen3-8b',
    },
    close: daemon.close,
  };
}

/** What a training prints: a line every ten seconds until now. */
async function printLog(daemon: TestDaemon, containerId: number): Promise<void> {
  daemon.send({ type: 'log-open', stream: LOG, containerId, epoch: 'training' });
  const { cursor } = await daemon.next('log-resume');
  const steps = Array.from({ length: 60 }, (_, n) => {
    const step = 1_810 + n * 10;
    const loss = 1.62 - 0.21 * (n / 60) + 0.03 * Math.sin(n * 1.7);
    const rate = (9.1e-5 - n * 2e-7).toExponential(2);
    const speed = Math.round(21_480 + 190 * Math.sin(n));
    const line = `step ${step}/4000  loss ${loss.toFixed(4)}  lr ${rate}  tokens/s ${speed}`;
    return n % 20 === 10 ? [line, `saved /checkpoints/step-${step}.safetensors (15.3 GB in 9.8 s)`] : [line];
  });
  const lines = [
    'loading Qwen/Qwen3-8B from /checkpoints/base',
    '2 × NVIDIA L40S, bf16, FSDP, sequence length 4096',
    'resumed from /checkpoints/step-1800.safetensors',
    ...steps.flat(),
  ];
  const end = BigInt(Date.now()) * 1_000_000n;
  const records = lines.map((text, n) =>
    encodeRecord({
      timeNs: end - BigInt(lines.length - n) * 10_000_000_000n,
      stream: 'stdout',
      partial: false,
      text: Buffer.from(text),
    }),
  );
  daemon.sendBytes(LOG, cursor.offset, Buffer.concat(records));
}

/** The last hour of the server and its GPUs. */
async function fillCharts(app: TestApp, server: number): Promise<void> {
  await makePartitions(app.ctx.db, new Date());
  await sql`insert into usage_sample_15s (instance_id, container_id, gpu, at, samples, cpu, memory, memory_total,
      received, sent, read, written, disk, disk_total)
    select ${server}, 0, -1, now() - n * interval '15 seconds', 1, 11 + 2.5 * sin(n / 7.0) + random(),
      88e9 + 4e9 * sin(n / 40.0), 275e9, 2e6 + 1e6 * random(), 4e5 + 2e5 * random(),
      case when n % 80 between 30 and 32 then 9e8 else 2e7 * random() end,
      case when n % 80 between 30 and 33 then 1.5e9 else 4e6 * random() end, 1230e9, 3840e9
    from generate_series(0, 240) n on conflict do nothing`.execute(app.ctx.db);
  await sql`insert into usage_sample_15s (instance_id, container_id, gpu, at, samples, gpu_use, gpu_memory,
      gpu_memory_total, gpu_temperature, gpu_power)
    select ${server}, 0, gpu, now() - n * interval '15 seconds', 1,
      case when n % 80 between 30 and 32 then 12 else 94 + 4 * random() end, 41.2e9 + gpu * 6e8, 48.3e9,
      66 + 2 * gpu + 2 * sin(n / 25.0), case when n % 80 between 30 and 32 then 120 else 318 + 15 * random() end
    from generate_series(0, 240) n, generate_series(0, 1) gpu on conflict do nothing`.execute(app.ctx.db);
}

async function pushProject(app: TestApp, { client, email }: Person): Promise<number> {
  const { entity: project } = await client(api.projects.create, { title: 'Trainer', slug: 'trainer' });
  await until('the repository is there', 20_000, async () => {
    const { entity } = await client(api.projects.view, { id: project.id });
    return entity.status === 'active';
  });
  await client(api.secondFactor.stepUpBegin, {});
  await client(api.secondFactor.stepUp, { code: await mailedCode(app.url, email) });
  const { token } = await client(api.apiTokens.create, { description: 'git' });
  const repository = localRepository();
  try {
    for (const { message, author, files } of COMMITS) {
      for (const [path, content] of Object.entries(files)) repository.write(path, content);
      repository.commit(message, author);
    }
    const to = new URL(project.gitHttps);
    to.username = 'git';
    to.password = token;
    // Asynchronously: the platform runs in this process.
    const env = { PATH: process.env.PATH, HOME: repository.dir, GIT_TERMINAL_PROMPT: '0' };
    await promisify(execFile)('git', ['push', '--quiet', to.href, 'main'], { cwd: repository.dir, env });
  } finally {
    repository.remove();
  }
  return project.id;
}

const ADA = 'Ada Lovelace <ada@example.com>';
const GRACE = 'Grace Hopper <grace@example.com>';
const COMMITS: readonly { message: string; author: string; files: Record<string, string> }[] = [
  {
    message: 'Train on one GPU',
    author: ADA,
    files: {
      '.gitignore': '__pycache__/\n*.safetensors\n',
      LICENSE: 'Apache License, Version 2.0\n',
      'trainer/__init__.py': '',
      'trainer/data.py': '"""Packs sequences."""\n',
      'pyproject.toml': '[project]\nname = "trainer"\nversion = "0.1.0"\n',
    },
  },
  {
    message: 'Evaluate on held-out prompts',
    author: GRACE,
    files: { 'trainer/evaluate.py': '"""Scores a checkpoint."""\n', 'tests/test_data.py': 'def test_packs(): ...\n' },
  },
  {
    message: 'Shard with FSDP over two GPUs',
    author: ADA,
    files: { 'trainer/train.py': '"""Trains a model."""\n', 'configs/qwen3-8b.yaml': 'model: Qwen/Qwen3-8B\n' },
  },
  {
    message: 'Say how to start',
    author: GRACE,
    files: {
      'README.md': `# Trainer

Fine-tunes open models on our own servers.

\`\`\`sh
python -m trainer.train --config configs/qwen3-8b.yaml
\`\`\`

| config | GPUs | tokens/s |
|---|---|---|
| qwen3-8b | 2 × L40S | 21,500 |
`,
    },
  },
];

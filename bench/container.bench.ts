/**
 * From "create a container" to its first log line: through API, daemon and log tail, against `docker run`
 * on the same engine, alternating in one run. Goal: at most 1.25 times the CLI.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { api } from '@stagi/contract/api.ts';
import { TailMessage } from '@stagi/contract/logging.ts';
import { buildDaemon } from '@stagi/daemon/build.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { WebSocket } from 'ws';
import { report } from './report.ts';

const ROUNDS = 15;
const GOAL = 1.25;
const IMAGE = 'stagi-bench:1';
/** Like a service: it prints a line and keeps running. */
const LONG_RUNNING = ['sh', '-c', 'echo here; trap exit TERM; sleep 60 & wait'];
const DAEMON = join(import.meta.dirname, '../packages/daemon/src/main.ts');

const dir = mkdtempSync(join(tmpdir(), 'stagi-bench-'));
importImage();
await buildDaemon();
const postgres = await startTestPostgres();
const app = await startTestApp();
const person = await app.signUp('Bench');
const daemon = await joinThisMachine();
const ours: number[] = [];
const cli: number[] = [];
try {
  for (let round = 0; round <= ROUNDS; round += 1) {
    const mine = await throughPlatform(round);
    const base = await throughCli(round);
    if (round === 0) continue;
    ours.push(mine);
    cli.push(base);
  }
} finally {
  daemon.process.kill('SIGTERM');
  await once(daemon.process, 'exit');
  await app.close();
  await postgres.stop();
  rmSync(dir, { recursive: true, force: true });
}
report('container create → first log line, against docker run', ours, cli, {
  unit: 'ms',
  goal: `<= ${GOAL}`,
  ok: (ratio) => ratio <= GOAL,
});

async function throughPlatform(round: number): Promise<number> {
  const started = performance.now();
  const { entity } = await person.client(api.containers.create, {
    instanceRef: { id: daemon.instanceId },
    title: `Bench ${round}`,
    slug: `bench-${round}-${Date.now()}`,
    dockerImage: IMAGE,
    command: LONG_RUNNING.map((word) => `"${word}"`).join(' '),
    cpus: 0.5,
  });
  const { ticket } = await person.client(api.auth.streamTicket, {});
  const socket = new WebSocket(
    `${app.url.replace('http', 'ws')}/frontend-api/logging/tail?ticket=${ticket}&type=docker-container&id=${entity.id}&after=0`,
    { origin: app.url },
  );
  const ms = await new Promise<number>((resolve, reject) => {
    socket.on('message', (data) => {
      const message = TailMessage.parse(JSON.parse(String(data)));
      if (message.type === 'lines' && message.lines.some((line) => line.text === 'here'))
        resolve(performance.now() - started);
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the log tail was closed')));
  });
  socket.terminate();
  await person.client(api.containers.delete, { id: entity.id });
  await gone();
  return ms;
}

async function throughCli(round: number): Promise<number> {
  const started = performance.now();
  const name = `stagi-bench-cli-${round}`;
  const child = spawn('docker', ['run', '--name', name, '--cpus', '0.5', IMAGE, ...LONG_RUNNING], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const ms = performance.now() - started;
  execFileSync('docker', ['rm', '-f', name], { stdio: ['ignore', 'ignore', 'inherit'] });
  return ms;
}

/** Waits for the removal of the container, so that neither side pays for the removals of the other. */
async function gone(): Promise<void> {
  const deadline = Date.now() + 30_000;
  while ((await person.client(api.containers.list, {})).totalCount > 0)
    if (Date.now() > deadline) throw new Error('the container was not removed');
}

async function joinThisMachine(): Promise<{ process: ChildProcess; instanceId: number }> {
  const { entity, daemonToken } = await person.client(api.selfHosted.create, { title: 'Here', slug: 'here' });
  const tokenFile = join(dir, 'daemon-token.jwt');
  writeFileSync(tokenFile, daemonToken, { mode: 0o600 });
  const env = { ...process.env, STAGI_CONFIG_DIR: join(dir, 'etc'), STAGI_STATE_DIR: join(dir, 'state') };
  mkdirSync(env.STAGI_CONFIG_DIR);
  // Not `execFileSync`: the platform that it calls runs in this process.
  await promisify(execFile)(
    process.execPath,
    [DAEMON, 'enrol', '--token-file', tokenFile, '--allow-cpu', '--allow-any-linux'],
    { env },
  );
  const child = spawn(process.execPath, [DAEMON, 'run'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const deadline = Date.now() + 30_000;
  while ((await person.client(api.selfHosted.view, { id: entity.id })).entity.status !== 'online') {
    if (Date.now() > deadline) throw new Error('the daemon did not come online');
  }
  return { process: child, instanceId: entity.id };
}

function importImage(): void {
  const script = `set -e; root=$(mktemp -d); mkdir "$root/bin"; cp "$(command -v busybox)" "$root/bin/busybox"; for name in sh echo sleep; do ln -s busybox "$root/bin/$name"; done; tar -C "$root" -c . | docker import - ${IMAGE}; rm -rf "$root"`;
  execFileSync('sh', ['-c', script], { stdio: ['ignore', 'ignore', 'inherit'] });
}

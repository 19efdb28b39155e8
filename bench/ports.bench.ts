/**
 * A container's port at its own address against `ssh -R` to the same port, in one run and in turn: nginx (Debian's
 * nginx-light and openssh-server) on loopback stands for the container. Throughput of 64 MB, latency of small answers one
 * after another, and 10,000 requests 16 at a time.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { issueEnrolment } from '@stagi/server/src/nodes/enrolment.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { aContainerWithPortOn } from '@stagi/server/src/testing/containerWithPort.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { anApiToken, aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import { until } from '../faults/until.ts';
import type { Asked, Measured } from './portLoad.ts';
import { median, report } from './report.ts';

const [NGINX, SSHD] = ['/usr/sbin/nginx', '/usr/sbin/sshd'];
const ROUNDS = 5;
const LARGE_MB = 64;
const SMALL = 400;
const MANY = 10_000;
const LEAST_THROUGHPUT = 0.3;
const MOST_ADDED_MS = 5;

for (const program of [NGINX, SSHD])
  if (!existsSync(program)) throw new Error(`${program} is needed: install Debian's nginx-light and openssh-server`);

const folder = mkdtempSync(join(tmpdir(), 'stagi-ports-bench-'));
const children: ChildProcess[] = [];
const postgres = await startTestPostgres();
const platformPort = await freePort();
const domain = `apps.localhost:${platformPort}`;
const app = await startTestApp(
  { LOG_LEVEL: 'silent', PORT: String(platformPort), APPS_DOMAIN: domain },
  { role: 'api' },
);
try {
  const nginx = await startNginx();
  const tunnel = await startTunnel(nginx);
  const ours = await startPort(nginx);
  const theirs = { port: tunnel, headers: {} };
  const load = fork(fileURLToPath(new URL('portLoad.ts', import.meta.url)));
  children.push(load);
  const measure = async (asked: Asked): Promise<Measured> => {
    load.send(asked);
    const [measured] = (await once(load, 'message')) as [Measured];
    return measured;
  };

  const speeds: [number[], number[]] = [[], []];
  const delays: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round++) {
    for (const side of round % 2 ? ([1, 0] as const) : ([0, 1] as const)) {
      const target = [ours, theirs][side]!;
      const large = await measure({ ...target, path: '/large', count: 1, atOnce: 1 });
      const small = await measure({ ...target, path: '/small', count: SMALL, atOnce: 1 });
      if (large.errors + small.errors > 0 || large.bytes !== LARGE_MB * 2 ** 20)
        throw new Error(`a request failed: ${JSON.stringify({ side, large: large.errors, small: small.errors })}`);
      // The first round opens the connections.
      if (round < 0) continue;
      speeds[side].push(LARGE_MB / large.seconds);
      delays[side].push(...small.ms);
    }
  }
  report(`ports: ${LARGE_MB} MB against ssh -R`, speeds[0], speeds[1], {
    unit: 'MB/s',
    goal: `≥ ${LEAST_THROUGHPUT}`,
    ok: (ratio) => ratio >= LEAST_THROUGHPUT,
  });
  const added = median(delays[0]) - median(delays[1]);
  const isQuick = added <= MOST_ADDED_MS;
  console.log(
    `ports: small answers, p50 ${median(delays[0]).toFixed(2)} ms against ${median(delays[1]).toFixed(2)} ms by ssh -R: ${added.toFixed(2)} ms added, goal ≤ ${MOST_ADDED_MS}: ${isQuick ? 'met' : 'MISSED'}, n = ${delays[0].length} each`,
  );
  const many = await measure({ ...ours, path: '/small', count: MANY, atOnce: 16 });
  const sorted = many.ms.toSorted((a, b) => a - b);
  console.log(
    `ports: ${many.ms.length} requests, 16 at a time, ${(many.ms.length / many.seconds).toFixed(0)} a second, p99 ${sorted[Math.floor(sorted.length * 0.99)]?.toFixed(1)} ms, ${many.errors} errors, goal 0: ${many.errors === 0 ? 'met' : 'MISSED'}`,
  );
  if (!isQuick || many.errors > 0 || many.ms.length !== MANY) process.exitCode = 1;
} finally {
  for (const child of children) child.kill('SIGTERM');
  await app.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function startNginx(): Promise<number> {
  const port = await freePort();
  const root = join(folder, 'root');
  mkdirSync(root);
  writeFileSync(join(root, 'large'), Buffer.alloc(LARGE_MB * 2 ** 20, 'x'));
  writeFileSync(join(root, 'small'), 'a small answer\n');
  const configuration = join(folder, 'nginx.conf');
  writeFileSync(
    configuration,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr; events {}
http { access_log off; keepalive_requests 1000000; server { listen 127.0.0.1:${port}; root ${root}; } }`,
  );
  children.push(spawn(NGINX, ['-c', configuration, '-p', folder], { stdio: 'ignore' }));
  await listening(port);
  return port;
}

/** An sshd on loopback, as it would run on the platform, and a client that forwards one of its ports. */
async function startTunnel(nginx: number): Promise<number> {
  const [sshPort, port] = [await freePort(), await freePort()];
  const key = (name: string): string => join(folder, name);
  for (const name of ['host', 'user']) {
    const made = spawn('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key(name)], { stdio: 'ignore' });
    await once(made, 'exit');
  }
  mkdirSync('/run/sshd', { recursive: true });
  children.push(
    spawn(
      SSHD,
      [
        ...['-D', '-e', '-f', '/dev/null', '-h', key('host')],
        ...['-o', `Port=${sshPort}`, '-o', 'ListenAddress=127.0.0.1', '-o', `AuthorizedKeysFile=${key('user.pub')}`],
        ...['-o', 'StrictModes=no', '-o', 'PermitRootLogin=yes', '-o', 'UsePAM=no', '-o', `PidFile=${folder}/sshd.pid`],
      ],
      { stdio: 'ignore' },
    ),
  );
  await listening(sshPort);
  children.push(
    spawn(
      'ssh',
      [
        ...['-N', '-i', key('user'), '-p', String(sshPort), '-R', `127.0.0.1:${port}:127.0.0.1:${nginx}`],
        ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'ExitOnForwardFailure=yes'],
        '127.0.0.1',
      ],
      { stdio: 'ignore' },
    ),
  );
  await listening(port);
  return port;
}

/** The container's port at its address, by a token. */
async function startPort(nginx: number): Promise<{ port: number; headers: Record<string, string> }> {
  const owner = await app.signUp();
  const serverId = await aRentedInstance(app.ctx, owner);
  const enrolment = await app.ctx.db.transaction().execute((trx) => issueEnrolment(app.ctx, trx, serverId, 'rented'));
  const daemon = fork(fileURLToPath(new URL('portDaemonProcess.ts', import.meta.url)), [app.url, enrolment.token]);
  children.push(daemon);
  await once(daemon, 'message');
  // Afterwards: what a daemon does not report of its containers is gone.
  await until('the inventory is known', async () => {
    const nodes = app.ctx.db.selectFrom('daemon_node').select('inventory_at').where('instance_id', '=', serverId);
    return (await nodes.executeTakeFirst())?.inventory_at;
  });
  const { id: containerId, slug } = await aContainerWithPortOn(app.ctx, owner, serverId);
  daemon.send({ containerId, port: nginx });
  await once(daemon, 'message');
  const { token } = await anApiToken(app.ctx, owner);
  return { port: platformPort, headers: { host: `${slug}-8080.${domain}`, authorization: `Bearer ${token}` } };
}

async function listening(port: number): Promise<void> {
  for (const deadline = Date.now() + 10_000; ; ) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isUp) return;
    if (Date.now() > deadline) throw new Error(`nothing listens on port ${port}`);
    await pause(50);
  }
}

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeProvider } from '../conformance.ts';
import type { Machine, StartRequest } from '../provider.ts';
import { createLocalProvider, type LocalProvider } from './localProvider.ts';
import { containerOptions, diskOf, machineLabels } from './machine.ts';
import { sizeOf } from './offers.ts';

const run = promisify(execFile);
const docker = new Docker();
const log = pino({ level: 'warn' });

describeProvider('the local cloud on real Docker', async () => {
  const here = await openProvider();
  const neighbour = createLocalProvider({ ...here.options, environment: `${here.environment}-other` });
  return { ...here, otherEnvironment: neighbour };
});

describe('a machine of the local cloud', { timeout: 120_000 }, () => {
  let provider: LocalProvider;
  let environment: string;
  let close: () => Promise<void>;
  let dir: string;
  let request: StartRequest;
  let machine: Machine;

  beforeAll(async () => {
    ({ provider, environment, close } = await openProvider());
    dir = await mkdtemp(join(tmpdir(), 'stagi-ssh-'));
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, 'key')]);
    request = requestFor('one', userData(await readFile(join(dir, 'key.pub'), 'utf8')));
    const started = performance.now();
    await provider.start(request);
    const startMs = performance.now() - started;
    await answers(request.name, 'docker info');
    const dockerMs = performance.now() - started;
    await answers(request.name, 'test -e /var/lib/stagi/user-data.exit');
    console.log(
      `start ${startMs.toFixed()} ms, nested Docker after ${dockerMs.toFixed()} ms, ` +
        `user data done after ${(performance.now() - started).toFixed()} ms (n = 1)`,
    );
    machine = (await provider.getMachine(request.name))!;
  });

  afterAll(async () => {
    for (const { ref } of await provider.list()) await provider.terminate(ref);
    await close();
    await rm(dir, { recursive: true });
  });

  const requestFor = (id: string, script: string): StartRequest => ({
    token: `token-${id}`,
    name: `stagi-${environment}-${id}`,
    offerId: 'local-1c-2g',
    tags: { env: environment, resource: id, op: `token-${id}` },
    userData: script,
  });

  it('runs sshd at its address and authorizes the key of its user data for root', async () => {
    await expect.poll(() => banner(machine.ip!)).toMatch(/^SSH-2\.0-OpenSSH/);
    const { stdout } = await ssh(machine.ip!, ['-i', join(dir, 'key')], 'id -un; hostname');
    expect(stdout.trim().split('\n')).toEqual(['root', request.name]);
  });

  it('refuses SSH without a key, and has its own host keys', async () => {
    const refused = await ssh(machine.ip!, ['-o', 'PubkeyAuthentication=no'], 'true').catch((error: Error) => error);
    expect(String(refused)).toContain('Permission denied (publickey)');
    const other = requestFor('two', '#!/bin/sh\n');
    await provider.start(other);
    await answers(other.name, 'docker info');
    const key = 'cat /etc/ssh/ssh_host_ed25519_key.pub';
    expect((await inside(other.name, key)).output).not.toBe((await inside(request.name, key)).output);
  });

  it('runs its user data when Docker answers, and then the scripts of each boot', async () => {
    expect((await inside(request.name, 'cat /var/lib/stagi/user-data.exit /root/ran')).output).toBe(
      '0\ndocker answers\n',
    );
    await answers(request.name, 'test "$(wc -l < /root/boots)" = 1');
  });

  it('runs containers within its limits and with its name servers', async () => {
    await makeTinyImage(request.name);
    expect((await inside(request.name, 'docker run --rm tiny echo nested')).output).toBe('nested\n');
    expect((await inside(request.name, 'docker run --rm tiny cat /etc/resolv.conf')).output).not.toContain('127.0.0');
    const hog = await inside(request.name, 'docker run --rm tiny dd if=/dev/zero of=/dev/null bs=2500M count=1');
    expect(hog.code).toBe(137);
    expect((await inside(request.name, 'docker info')).code).toBe(0);
  });

  it('reaps orphaned processes and blocks no signal for the programs it starts', async () => {
    await inside(request.name, 'for i in 1 2 3; do (setsid sh -c "(true &) ; (true &)" &); done');
    await answers(request.name, '! ps -eo stat | grep -q ^Z');
    // Bits 1 and 2 of the mask: SIGINT and SIGQUIT.
    const { stdout } = await ssh(machine.ip!, ['-i', join(dir, 'key')], 'grep SigIgn /proc/self/status');
    expect(Number.parseInt(stdout.split(/\s+/)[1]!, 16) & 0b110).toBe(0);
  });

  it('restarts sshd and the engine when they die', async () => {
    await inside(request.name, 'pkill -9 -x dockerd; pkill -9 -x -o sshd');
    await answers(request.name, 'docker info');
    await expect.poll(() => banner(machine.ip!)).toMatch(/^SSH-2\.0/);
  });

  it('reaches this machine at the gateway, and no other machine', async () => {
    const server = createServer((_, response) => response.end('platform'));
    const gateway = (await provider.gateway())!;
    await new Promise<void>((resolve) => server.listen(0, gateway, resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : null;
    expect((await inside(request.name, `curl -s http://${gateway}:${port}/`)).output).toBe('platform');
    server.close();
    const other = (await provider.getMachine(requestFor('two', '').name))!;
    expect((await inside(request.name, `curl -s --max-time 1 telnet://${other.ip}:22`)).code).toBe(28);
  });

  it('stops its containers gracefully, and keeps its disk and that of its Docker when resumed', async () => {
    const farewell = 'trap "echo bye > /kept/bye; exit" TERM; : > /kept/begun; while :; do sleep 0.1; done';
    await inside(request.name, `docker run -d --name gentle -v kept:/kept tiny sh -c '${farewell}'`);
    await answers(request.name, 'docker exec gentle sh -c "test -e /kept/begun"');
    const stopping = performance.now();
    await provider.stop!(request.name);
    await expect.poll(async () => (await provider.getMachine(request.name))?.state).toBe('stopped');
    console.log(`stopped after ${(performance.now() - stopping).toFixed()} ms (n = 1)`);
    const resuming = performance.now();
    await provider.resume!(request.name);
    await answers(request.name, 'docker info');
    console.log(`nested Docker ${(performance.now() - resuming).toFixed()} ms after resume (n = 1)`);
    expect((await inside(request.name, 'docker run --rm -v kept:/kept tiny cat /kept/bye')).output).toBe('bye\n');
    expect((await inside(request.name, 'cat /root/ran')).output).toBe('docker answers\n');
    await answers(request.name, 'test "$(wc -l < /root/boots)" = 2');
  });

  it('boots again on a reboot, and is listed as running meanwhile', async () => {
    await provider.reboot!(request.name);
    expect((await provider.getMachine(request.name))?.state).toBe('running');
    await answers(request.name, 'test "$(wc -l < /root/boots)" = 3 && docker info');
  });

  it('is started by a retry after a crash between its creation and its start', async () => {
    const half = requestFor('half', '#!/bin/sh\ntouch /root/finished\n');
    await createOnly(half);
    expect(await provider.getMachine(half.name)).toMatchObject({ state: 'creating', tags: half.tags });
    await provider.start(half);
    await answers(half.name, 'test -e /root/finished');
    await provider.terminate(half.name);
  });

  it('is listed as terminating while only its disk is left, and removed by a retry', async () => {
    const rest = requestFor('rest', '');
    await createOnly(rest);
    await docker.getContainer(rest.name).remove();
    expect(await provider.getMachine(rest.name)).toMatchObject({ state: 'terminating', ref: rest.name });
    expect((await provider.list()).map(({ name }) => name)).toContain(rest.name);
    await provider.terminate(rest.name);
    expect(await provider.getMachine(rest.name)).toBeNull();
  });

  it('leaves no container, volume or network', async () => {
    for (const { ref } of await provider.list()) await provider.terminate(ref);
    const filters = { label: [`cloud.stagi.environment=${environment}`] };
    await expect.poll(() => docker.listContainers({ all: true, filters })).toEqual([]);
    await expect.poll(async () => (await docker.listVolumes({ filters })).Volumes ?? []).toEqual([]);
    await provider.removeNetwork();
    expect(await docker.listNetworks({ filters })).toEqual([]);
  });

  /** The state that a `start` leaves when it is killed after its first step. */
  async function createOnly(half: StartRequest): Promise<void> {
    await provider.gateway();
    const size = sizeOf(half.offerId)!;
    await docker.createContainer(
      containerOptions({
        name: half.name,
        size,
        privileges: { name: 'none', hostConfig: (await docker.getContainer(request.name).inspect()).HostConfig },
        network: `stagi-${environment}`,
        labels: machineLabels(environment, half, size),
        nameServers: [],
      }),
    );
    expect((await docker.getVolume(diskOf(half.name)).inspect()).Name).toBe(diskOf(half.name));
  }
});

async function openProvider() {
  const environment = `test-${randomBytes(4).toString('hex')}`;
  const dataDir = await mkdtemp(join(tmpdir(), 'stagi-local-'));
  const options = { docker, environment, log, dataDir, originIsLoopback: true, allowed: false };
  const provider = createLocalProvider(options);
  await vi.waitFor(async () => expect(await provider.readiness()).toEqual({ state: 'ready' }), {
    timeout: 300_000,
    interval: 100,
  });
  const close = async () => {
    await vi.waitFor(() => provider.removeNetwork(), { timeout: 60_000 });
    await provider.close();
    await rm(dataDir, { recursive: true });
  };
  return { provider, environment, options, close };
}

function userData(publicKey: string): string {
  return `#!/bin/sh
docker info >/dev/null && echo docker answers >>/root/ran
mkdir -p -m 700 /root/.ssh
echo '${publicKey.trim()}' >/root/.ssh/authorized_keys
cat >/etc/stagi/start <<'END'
#!/bin/sh
echo boot >>/root/boots
exec sleep infinity
END
chmod +x /etc/stagi/start
`;
}

/** An image from the machine's own files, as there may be no registry. */
async function makeTinyImage(name: string): Promise<void> {
  const programs = ['sh', 'dash', 'cat', 'echo', 'sleep', 'dd'].map((program) => `usr/bin/${program}`);
  const libraries = ['bin', 'lib', 'lib64', 'usr/lib64', 'usr/lib/x86_64-linux-gnu'];
  const script = `tar -C / -c ${[...programs, ...libraries].join(' ')} | docker import - tiny`;
  expect(await inside(name, script)).toMatchObject({ code: 0 });
}

async function inside(name: string, script: string): Promise<{ code: number | null; output: string }> {
  const exec = await docker
    .getContainer(name)
    .exec({ Cmd: ['sh', '-c', script], AttachStdout: true, AttachStderr: true, Tty: true });
  const output = (await text(await exec.start({ Tty: true }))).replaceAll('\r', '');
  return { code: (await exec.inspect()).ExitCode, output };
}

async function answers(name: string, script: string): Promise<void> {
  await vi.waitFor(async () => expect(await inside(name, script)).toMatchObject({ code: 0 }), {
    timeout: 60_000,
    interval: 20,
  });
}

async function banner(ip: string): Promise<string> {
  const socket = connect(22, ip);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  socket.once('data', (data) => resolve(data.toString()));
  socket.once('error', reject);
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

function ssh(ip: string, options: string[], command: string) {
  const common = ['-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null'];
  return run('ssh', [...common, ...options, `root@${ip}`, command]);
}

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CapabilitySet } from '@stagi/contract/containerFields.ts';
import { freeHostPort } from '@stagi/contract/testing/freePort.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { container } from './testing/daemon.ts';
import { ensureProgramImage } from './testing/programImage.ts';
import { startTaskRuns } from './testing/taskRuns.ts';

const run = promisify(execFile);
const { at, wish } = startTaskRuns();
let folder: string;
let image: string;
let key: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stagi-images-'));
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')]);
  key = (await readFile(join(folder, 'key.pub'), 'utf8')).trim();
  image = await ensureProgramImage({
    name: 'stagi-test-images',
    packages: ['openssh-server', 'libwrap0'],
    programs: ['/usr/sbin/sshd', '/usr/bin/ssh-keygen', '/usr/bin/perl', '/usr/sbin/chroot'],
    scripts: {
      'etc/passwd':
        'root:*:0:0::/root:/bin/sh\nsshd:*:100:65534::/run/sshd:/bin/false\nada:*:1000:1000::/home/ada:/bin/sh\n',
      'etc/group': 'root:x:0:\nada:x:1000:\nnogroup:x:65534:\n',
      'etc/ssh/sshd_config': 'UsePAM no\nLogLevel VERBOSE\n',
      'bin/serve-ssh': `#!/bin/sh
for home in /root /home/ada; do mkdir -p $home/.ssh; echo "$KEY" > $home/.ssh/authorized_keys; busybox chmod 755 $home; done
busybox chown -R ada:ada /home/ada
mkdir -p /run/sshd /var/empty
ssh-keygen -q -t ed25519 -N "" -f /etc/host_key
exec /usr/sbin/sshd -D -e -h /etc/host_key
`,
    },
  });
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function serve(id: number, capabilities: CapabilitySet): Promise<number> {
  const host = await freeHostPort();
  const env = [{ name: 'KEY', value: key }];
  const ports = [{ host, container: 22, public: false }];
  await wish(
    container(id, '', {
      spec: { image, entrypoint: ['serve-ssh'], command: null, env, ports, capabilities, nanoCpus: 1e9 },
    }),
  );
  await at.platform.until('it listens', () =>
    at.platform.logs.of(id).lines.some(({ text }) => text.includes('Server listening')),
  );
  return host;
}

const ssh = (port: number, user: string, command: string) =>
  run('ssh', [
    ...['-i', join(folder, 'key'), '-p', String(port), '-o', 'StrictHostKeyChecking=no', '-o', 'BatchMode=yes'],
    ...[
      '-o',
      `UserKnownHostsFile=${join(folder, 'known')}-${port}`,
      '-o',
      'ConnectTimeout=20',
      `${user}@127.0.0.1`,
      command,
    ],
  ]).then(
    ({ stdout }) => stdout.trim(),
    () => 'refused',
  );

it('lets people in by SSH, to a container with Docker’s default capabilities', { timeout: 120_000 }, async () => {
  const port = await serve(601, 'docker');
  expect(await ssh(port, 'root', 'busybox id -u')).toBe('0');
  expect(await ssh(port, 'ada', 'busybox id -u; echo $HOME')).toBe('1000\n/home/ada');
  expect(await ssh(port, 'nobody', 'true')).toBe('refused');
  // The hardened set has no SYS_CHROOT.
  expect(await ssh(await serve(602, 'hardened'), 'root', 'true')).toBe('refused');
});

const CASES: [what: string, script: string, docker: string, hardened: string][] = [
  ['chroot', 'chroot / /bin/echo inside', 'inside', 'refused'],
  ['a raw socket', 'perl -e \'socket(S, 2, 3, 1) or exit 1; print "made\\n"\'', 'made', 'refused'],
  ['a device', 'busybox mknod /tmp/null c 1 3 && echo made', 'made', 'refused'],
  [
    'a set-group-id bit after chown',
    'echo > /tmp/f; busybox chown 5:5 /tmp/f; busybox chmod 2755 /tmp/f; busybox stat -c %a /tmp/f',
    '2755',
    '755',
  ],
  [
    'ending a program of another user',
    'busybox su ada -c "sleep 100" & sleep 0.3; kill $! && echo ended',
    'ended',
    'ended',
  ],
  ['changing owners', 'echo > /tmp/f; busybox chown 7:7 /tmp/f && busybox stat -c %u /tmp/f', '7', '7'],
  ['a low port', 'busybox timeout 1 busybox nc -l -p 80; [ $? = 143 ] && echo bound', 'bound', 'bound'],
  ['mounting', 'busybox mount -t tmpfs none /tmp 2>/dev/null && echo mounted', 'refused', 'refused'],
  ['loading a module', 'busybox insmod /tmp/none.ko 2>/dev/null && echo loaded', 'refused', 'refused'],
  ['a setting of the kernel', 'echo 1 > /proc/sys/kernel/panic && echo set', 'refused', 'refused'],
  ['another namespace', 'busybox unshare -m true 2>/dev/null && echo left', 'refused', 'refused'],
  ['a name of the machine', 'busybox hostname other 2>/dev/null && echo renamed', 'refused', 'refused'],
];

it(`lets root do what its set says (n = ${CASES.length})`, { timeout: 180_000 }, async () => {
  let id = 610;
  for (const [what, script, docker, hardened] of CASES)
    for (const [capabilities, expected] of [
      ['docker', docker],
      ['hardened', hardened],
    ] as const) {
      id += 1;
      await wish(
        container(id, `(${script}) 2>/dev/null || echo refused`, { spec: { image, capabilities, nanoCpus: 1e9 } }),
      );
      await at.platform.until('its log has ended', () => at.platform.logs.of(id).ends > 0);
      const said = at.platform.logs
        .of(id)
        .lines.map(({ text }) => text)
        .join(' ');
      expect.soft({ what, capabilities, said }).toEqual({ what, capabilities, said: expected });
    }
  console.log(`n = ${CASES.length} × 2 sets`);
});

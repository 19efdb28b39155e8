import { chown, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CAPABILITIES } from '@stagi/contract/hostConfig.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { container } from './testing/daemon.ts';
import { ensureTestImage } from './testing/image.ts';
import { ensureProgramImage } from './testing/programImage.ts';
import { startTaskRuns } from './testing/taskRuns.ts';

const { at, inspect, wish } = startTaskRuns();
let folder: string;
beforeAll(async () => {
  await ensureTestImage();
  folder = await mkdtemp(join(tmpdir(), 'stagi-launch-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let ids = 700;
async function printed(script: string, spec: NonNullable<Parameters<typeof container>[2]>['spec']) {
  ids += 1;
  const id = ids;
  await wish(container(id, script, { spec: { nanoCpus: 1e9, ...spec } }));
  await at.platform.until('its log has ended', () => at.platform.logs.of(id).ends > 0);
  return { id, lines: at.platform.logs.of(id).lines.map(({ text }) => text) };
}

it('gives root the capabilities of its set, and no more than those by any program', async () => {
  for (const capabilities of ['docker', 'hardened'] as const) {
    const { id, lines } = await printed('busybox grep -E "CapBnd|NoNewPrivs|Seccomp:" /proc/self/status', {
      capabilities,
    });
    const bits = BigInt(`0x${lines.find((line) => line.startsWith('CapBnd'))!.split('\t')[1]}`);
    const count = bits.toString(2).replaceAll('0', '').length;
    expect({ capabilities, count }).toEqual({ capabilities, count: CAPABILITIES[capabilities].length });
    expect(lines).toContain('NoNewPrivs:\t1');
    expect(lines).toContain('Seccomp:\t2');
    const { HostConfig } = await inspect(id);
    expect([HostConfig.Privileged, HostConfig.CapDrop, HostConfig.PidMode, HostConfig.UsernsMode]).toEqual([
      false,
      ['ALL'],
      '',
      '',
    ]);
  }
});

it('runs another entry point, with the command as its arguments', async () => {
  const { lines } = await printed('', { entrypoint: ['echo', 'one two'], command: ['three', '$four'] });
  expect(lines).toEqual(['one two three $four']);
  expect((await printed('', { entrypoint: ['busybox', 'uname'], command: null })).lines).toEqual(['Linux']);
});

it('runs as a user who may write to new folders of volumes, and changes no other folder', async () => {
  const there = join(folder, 'there');
  await mkdir(there);
  await chown(there, 7, 7);
  const made = join(folder, 'made/deep');
  const directories = [
    { host: made, container: '/new:colon' },
    { host: there, container: '/there' },
  ];
  const { lines } = await printed(
    'echo x > /new:colon/file && echo written; echo x > /there/file || echo refused; busybox id -u; busybox id -g',
    { user: '1234:2345', directories },
  );
  expect(lines.filter((line) => !line.includes('denied'))).toEqual(['written', 'refused', '1234', '2345']);
  const owner = async (path: string) => stat(path).then(({ uid, gid }) => [uid, gid]);
  expect(await owner(made)).toEqual([1234, 2345]);
  expect(await owner(join(made, 'file'))).toEqual([1234, 2345]);
  expect(await owner(join(folder, 'made'))).toEqual([0, 0]);
  expect(await owner(there)).toEqual([7, 7]);
});

/** User field, and the ids that it stands for in an image whose own user is `ada`. */
const USERS: [user: string | undefined, ids: [number, number]][] = [
  [undefined, [1000, 1001]],
  ['ada', [1000, 1001]],
  ['ada:staff', [1000, 50]],
  ['ada:7', [1000, 7]],
  ['1000', [1000, 1001]],
  ['1000:7', [1000, 7]],
  ['4321', [4321, 0]],
  ['4321:staff', [4321, 50]],
  ['root', [0, 0]],
];

it(`gives new folders of volumes to the user that it runs as (n = ${USERS.length})`, async () => {
  const image = await ensureProgramImage({
    name: 'stagi-test-user',
    programs: [],
    scripts: {
      'etc/passwd': 'root:x:0:0::/root:/bin/sh\nada:x:1000:1001::/:/bin/sh\n',
      'etc/group': 'root:x:0:\nstaff:x:50:\nada:x:1001:\n',
    },
    changes: ['USER ada'],
  });
  for (const [index, [user, ids]] of USERS.entries()) {
    const host = join(folder, `user-${index}`);
    const { lines } = await printed('echo x > /data/file && busybox id -u && busybox id -g', {
      image,
      ...(user && { user }),
      directories: [{ host, container: '/data' }],
    });
    const { uid, gid } = await stat(host);
    expect.soft({ user, ran: lines.map(Number), owner: [uid, gid] }).toEqual({ user, ran: ids, owner: ids });
  }
});

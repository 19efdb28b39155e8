import { api } from '@stagi/contract/api.ts';
import {
  TASK_INPUT_PATH,
  TASK_OUTPUT_BEGIN_PATH,
  TASK_OUTPUT_COMPLETE_PATH,
  TASK_OUTPUT_LINKS_PATH,
  TASK_OUTPUT_PARTS_PATH,
  TASK_SOURCE_PATH,
} from '@stagi/contract/taskTransfer.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChaosProxy, startChaosProxy } from './link/chaosProxy.ts';
import { randomFrom } from './link/random.ts';
import { newSeed } from './random.ts';
import { createTaskBed, type TaskBed } from './tasks/bed.ts';
import { containerOf, type RunContainer } from './tasks/container.ts';
import { findSecrets, type Secrets, secretsOf } from './tasks/secrets.ts';
import { EASY, fieldsOf } from './tasks/work.ts';
import { until } from './until.ts';

const PLANTED = 'planted-by-its-maker-5f1c9b7e';
const COMMAND = [
  'printf %s "$PLANTED" > /tmp/planted',
  'printf "xx%s" "$PLANTED" | busybox base64 > "$STAGI_OUTPUT_PATH/encoded"',
  'echo "it knows $PLANTED"',
  'exec sleep 1000',
].join('; ');

describe('in the container of a task', () => {
  const seed = newSeed();
  let bed: TaskBed;
  let id: number;
  let container: RunContainer;
  let secrets: Secrets;
  const doors: ChaosProxy[] = [];
  let gateway: string;

  beforeAll(async () => {
    console.log(`secrets of tasks: seed ${seed}`);
    bed = await createTaskBed(randomFrom(seed), { logLevel: 'debug' });
    const { entity } = await bed.person.client(api.tasks.create, {
      projectRef: { id: bed.projectId },
      instanceRef: { id: bed.servers[0]!.id },
      storageRef: { id: bed.storageId },
      ...fieldsOf(EASY),
      command: COMMAND,
      env: [{ name: 'PLANTED', value: PLANTED }],
    });
    id = entity.id;
    const run = await until('the task runs', async () => {
      const { entity: task } = await bed.person.client(api.tasks.view, { id });
      if (task.status === 'failed') throw new Error(`it failed: ${task.statusReason}`);
      if (task.status !== 'running') return null;
      return bed.pool.db
        .selectFrom('task_run')
        .select(['id', 'container_id'])
        .where('task_id', '=', id)
        .executeTakeFirstOrThrow();
    });
    container = await containerOf(bed.servers[0]!.daemon.labels, run.container_id!);
    await until('it has printed', async () => (await container.log()).bytes.includes('it knows'));
    secrets = await secretsOf(bed, run.id);
    // The platform listens on loopback here: to containers these doors are what its public address is elsewhere.
    // As the container sees it: an engine that was never restarted names no gateway of its first network.
    gateway = /default via ([\d.]+)/.exec(await container.run('busybox ip route'))![1]!;
    for (const url of [bed.platform.url, bed.platform.s3Url])
      doors.push(await startChaosProxy(() => Number(new URL(url).port), randomFrom(seed), { host: gateway }));
  });
  afterAll(async () => {
    for (const door of doors) await door.close();
    await bed?.cleanUp();
  });

  const everywhere = () =>
    Promise.all([container.settings(), container.files(), container.processes(), container.log()]);

  it('finds what its maker put in, in each place: the search works', async () => {
    const places = await everywhere();
    const found = findSecrets({ texts: new Map([['planted', PLANTED]]), patterns: new Map() }, places);
    for (const place of ['its settings', 'its files', 'its processes', 'its log'])
      expect(found).toContain(`planted (as it is) in ${place}`);
    expect(found).toContain('planted (base64+2) in its files');
  });

  it('finds no secret of the platform in its settings, files, processes and log', async () => {
    const places = await everywhere();
    const bytes = places.reduce((sum, place) => sum + place.bytes.length, 0);
    console.log(
      `secrets of tasks: n = ${secrets.texts.size} secrets and ${secrets.patterns.size} kinds, looked for in ` +
        `${places.length} places with ${bytes} bytes`,
    );
    expect(secrets.texts.size).toBeGreaterThanOrEqual(8);
    expect(findSecrets(secrets, places)).toEqual([]);
  });

  it('is answered nothing by the platform that it may reach', async () => {
    const [platform, s3] = doors.map(({ port }) => `http://${gateway}:${port}`);
    // The doors are at an address that the platform does not know to be its own.
    const ask = (url: string, ...options: string[]) =>
      container.run(
        `busybox wget -S -O - ${['--header=Host: 127.0.0.1', ...options].map((option) => `'${option}'`).join(' ')} '${url}' 2>&1`,
      );
    expect(await ask(`${platform}/daemon-api/reach`), 'the platform is reached').toMatch(/HTTP\/1\.1 204 /);
    const body = ['--header=content-type: application/json', '--post-data={}'];
    const calls: [string, string[]][] = [
      [TASK_SOURCE_PATH, []],
      [TASK_INPUT_PATH, body],
      [TASK_OUTPUT_LINKS_PATH, body],
      [TASK_OUTPUT_BEGIN_PATH, body],
      [TASK_OUTPUT_PARTS_PATH, body],
      [TASK_OUTPUT_COMPLETE_PATH, body],
    ];
    const headers = [
      [],
      ['--header=authorization: Bearer x'],
      [`--header=authorization: Bearer stt_1_${'A'.repeat(43)}`],
    ];
    for (const [path, options] of calls)
      for (const header of headers)
        expect(await ask(platform + path, ...options, ...header), `${path} ${header}`).toMatch(/HTTP\/1\.1 401 /);
    console.log(`secrets of tasks: n = ${calls.length * headers.length} calls from within, all refused`);

    const bucket = `data-${process.pid}`;
    for (const path of ['/', `/${bucket}`, `/${bucket}/input/a.txt`, `/${bucket}/tasks/${id}/output/encoded`])
      expect(await ask(s3 + path), path).toMatch(/HTTP\/1\.1 403 /);
  });

  it('finds none while its output is stored, and none in the logs of daemon and platform', async () => {
    const [, s3Proxy] = bed.proxies;
    s3Proxy!.set({ blackhole: true });
    await bed.person.client(api.tasks.cancel, { id });
    await until('it was stopped, and is not stored yet', async () => {
      const { entity } = await bed.person.client(api.tasks.view, { id });
      return entity.runs[0]!.output.phase === 'saving';
    });
    expect(findSecrets(secrets, [await container.settings(), await container.files()])).toEqual([]);
    s3Proxy!.set({ blackhole: false });
    await until(
      'it is canceled',
      async () => (await bed.person.client(api.tasks.view, { id })).entity.status === 'canceled',
    );

    const { objects } = await bed.person.client(api.tasks.output, { id });
    expect(objects.map(({ key }) => key)).toEqual(['encoded']);
    const logs = [
      { name: "the daemon's log", bytes: Buffer.from(bed.servers[0]!.daemon.output()) },
      { name: "the platform's log", bytes: Buffer.from(bed.platform.log()) },
    ];
    expect(findSecrets(secrets, logs)).toEqual([]);
  });
});

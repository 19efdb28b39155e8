import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { ActualContainer, ActualTask, DaemonMessage } from '@stagi/contract/daemon.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { TASK_PUT_MAX_BYTES } from '@stagi/contract/taskTransfer.ts';
import { afterAll, beforeAll, expect } from 'vitest';
import { createDaemon, slugOf, type TestDaemon } from './daemon.ts';
import { docker, ensureTestImage } from './image.ts';
import { type FakePlatform, startFakePlatform } from './platform.ts';
import { type StoredTask, taskContainer } from './taskStore.ts';

/** Of a file that is uploaded in parts. */
export const LARGE_BYTES = TASK_PUT_MAX_BYTES + 5_000_000;

type Options = Parameters<typeof taskContainer>[2] & Parameters<FakePlatform['tasks']['add']>[0];

/** A platform with a daemon for the tests of a file, and what is asked of the runs there. */
export function startTaskRuns() {
  const at = {} as { platform: FakePlatform; daemon: TestDaemon };
  const wishes = new Map<number, DesiredContainer>();
  let ids = 0;
  /** Starts of each container by its own id: other files of tests have had containers of these names. */
  const started = new Map<string, number>();
  let events: Readable;

  beforeAll(async () => {
    await ensureTestImage();
    at.platform = await startFakePlatform({ node: String(7_000_000 + (process.pid % 100_000)) });
    at.daemon = await createDaemon(at.platform);
    events = await listenToStarts();
    await connect();
  });
  afterAll(async () => {
    events?.destroy();
    await at.daemon?.cleanUp();
    await at.platform?.close();
  });

  /** Starts the daemon and waits for its hello. */
  async function connect(): Promise<void> {
    const hellos = () => at.platform.received.filter(({ type }) => type === 'hello').length;
    const before = hellos();
    at.daemon.start();
    await at.platform.until('a hello', () => hellos() > before);
  }
  async function wish(...targets: DesiredContainer[]): Promise<void> {
    for (const target of targets) wishes.set(target.id, target);
    await at.platform.setDesired([...wishes.values()]);
  }
  /** A run whose files are in the store. */
  function run(line: string, { source, input, ...more }: Options = {}) {
    const store = at.platform.tasks.add({ ...(source ? { source } : {}), ...(input ? { input } : {}) });
    ids += 1;
    return { id: ids, store, target: taskContainer(ids, line, { token: store.token, ...more }) };
  }

  const shown = (id: number): ActualContainer | undefined =>
    at.platform.inventory()?.containers.find((one) => one.id === id);
  const until = (id: number, what: string, check: (seen: ActualContainer, task: ActualTask) => unknown) =>
    at.platform.until(`container ${id}: ${what}`, () => {
      const seen = shown(id);
      return seen?.task && check(seen, seen.task) ? { ...seen, task: seen.task } : null;
    });
  const settled = (id: number) => until(id, 'its output is settled', (_, { phase }) => /saved$/.test(phase));
  const inState = (id: number, state: ActualContainer['state']) => until(id, state, (seen) => seen.state === state);
  const inspect = (id: number) => docker.getContainer(`stagi-${slugOf(id)}`).inspect();
  const text = (store: StoredTask, path: string) => store.output.get(path)?.toString();
  const failure = (id: number) =>
    at.platform.until(`container ${id} fails`, () =>
      at.platform.received.find(
        (message): message is Extract<DaemonMessage, { type: 'failed' }> =>
          message.type === 'failed' && message.containerId === id,
      ),
    );

  /** As it happens: Docker keeps only its last 256 events, of all tests that run. */
  async function listenToStarts(): Promise<Readable> {
    const label = [`stagi.platform=${at.daemon.labels['stagi.platform']}`];
    const stream = await docker.getEvents({ filters: { type: ['container'], event: ['start'], label } });
    createInterface({ input: stream }).on('line', (line) => {
      const { ID } = (JSON.parse(line) as { Actor: { ID: string } }).Actor;
      started.set(ID, (started.get(ID) ?? 0) + 1);
    });
    return stream as Readable;
  }
  /** The number of times that Docker has started the container of a run, once it has. */
  async function starts(id: number): Promise<number> {
    const { Id } = await inspect(id);
    await expect.poll(() => started.get(Id)).toBeDefined();
    return started.get(Id)!;
  }
  /** Changes what the stopped daemon has recorded of a run. */
  async function editRecord(id: number, change: object): Promise<void> {
    const path = join(at.daemon.folder, 'state/containers.json');
    const records = JSON.parse(await readFile(path, 'utf8'));
    Object.assign(records[id].task, change);
    await writeFile(path, JSON.stringify(records));
  }
  return { at, connect, editRecord, failure, inspect, inState, run, settled, shown, starts, text, until, wish };
}

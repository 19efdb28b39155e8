import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import type { CommandOutcome } from '@stagi/contract/desiredState.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startConnectedDaemon } from './testing/connectedDaemon.ts';
import { container, slugOf, type TestDaemon } from './testing/daemon.ts';
import { docker, ensureTestImage, TEST_IMAGE } from './testing/image.ts';
import type { FakePlatform } from './testing/platform.ts';
import { layeredImage } from './testing/privateRegistry.ts';

let platform: FakePlatform;
let daemon: TestDaemon;
let nodes = 9_500_000;

/** Docker's own prune is asked about images with this label alone: other tests have theirs on the same Docker. */
const LABELS = { 'stagi.prune-test': String(process.pid) };
const nameOf = (name: string) => `stagi-prune-${process.pid}-${name}:1`;
const NAMES = ['one', 'two', 'used', 'theirs'];

async function answer(commandId: string) {
  return platform.until('an answer', () =>
    platform.received.find(
      (one): one is Extract<DaemonMessage, { type: 'result' }> => one.type === 'result' && one.commandId === commandId,
    ),
  );
}
let commands = 0;
async function command(what: Parameters<FakePlatform['command']>[0]) {
  const id = `command-${process.pid}-${++commands}`;
  await platform.command(what, id);
  return answer(id);
}
const listed = async () => (await docker.listImages()).flatMap(({ RepoTags }) => RepoTags ?? []);
const outcomeOf = ({ outcome }: { outcome?: CommandOutcome | undefined }) => ({
  ...outcome,
  references: outcome?.references.toSorted(),
});

/** Has the daemon run a container of each of these once. */
async function use(names: readonly string[]): Promise<void> {
  const ran = names.map((name, index) => container(index + 1, 'true', { spec: { image: nameOf(name) } }));
  await platform.setDesired(ran);
  await platform.until('they have ended', () => {
    const ended = platform.inventory()?.containers.filter(({ state }) => state === 'exited') ?? [];
    return ended.length === names.length;
  });
  await platform.setDesired(ran.map((one) => ({ ...one, gen: 2, state: 'absent' as const })));
  await platform.until('they are gone', () => platform.inventory()?.containers.length === 0);
}

beforeAll(() => ensureTestImage());
beforeEach(async () => {
  // Two that share a layer of their own, one in use, one that no container of ours was made of.
  await layeredImage(nameOf('one'), [1_500_000], LABELS);
  await layeredImage(nameOf('two'), [700_000], LABELS);
  await docker.getImage(nameOf('two')).tag({ repo: nameOf('used').replace(':1', ''), tag: '1' });
  await layeredImage(nameOf('theirs'), [300_000]);
  ({ platform, daemon } = await startConnectedDaemon(String(++nodes)));
});
afterEach(async () => {
  await daemon.cleanUp();
  await platform.close();
  const left = await listed();
  for (const name of NAMES.map(nameOf)) if (left.includes(name)) await docker.getImage(name).remove({ force: true });
});
afterAll(async () => {
  expect((await listed()).filter((tag) => tag.includes(`stagi-prune-${process.pid}`))).toEqual([]);
});

describe('images on an own server', () => {
  it('of our containers are told apart from others, and only they are removed', async () => {
    await use(['one']);
    const told = await platform.until('it is told whose they are', () => {
      const images = new Map(platform.inventory()?.images.map(({ reference, ours }) => [reference, ours]));
      return images.get(nameOf('one')) === true && images;
    });
    expect(told.get(nameOf('theirs'))).toBe(false);
    expect(await command({ kind: 'image-remove', reference: nameOf('theirs') })).toMatchObject({
      ok: false,
      message: 'Only images that containers of Stagi were made of can be removed here',
    });
    const removed = await command({ kind: 'image-remove', reference: nameOf('one') });
    expect(removed).toMatchObject({ ok: true });
    expect(outcomeOf(removed).references).toEqual([nameOf('one')]);
    const left = await listed();
    expect(left).not.toContain(nameOf('one'));
    expect(left).toEqual(expect.arrayContaining([nameOf('theirs'), TEST_IMAGE]));
    // The same again has nothing to do.
    expect(await command({ kind: 'image-remove', reference: nameOf('one') })).toMatchObject({
      ok: true,
      outcome: { references: [], bytes: 0 },
    });
  });

  it('stay while a container is made of them, of whomever', async () => {
    await use(['one']);
    const stranger = await docker.createContainer({
      Image: nameOf('one'),
      Cmd: ['true'],
      name: `stranger-${slugOf(1)}`,
    });
    expect(await command({ kind: 'image-remove', reference: nameOf('one') })).toMatchObject({
      ok: false,
      message: `It is in use by stranger-${slugOf(1)}`,
    });
    await stranger.remove();
    await platform.setDesired([container(7, 'true', { spec: { image: nameOf('one') }, state: 'stopped' })], { gen: 9 });
    await platform.until('it is wanted', () => platform.inventory()?.appliedGen === 9);
    expect(await command({ kind: 'image-remove', reference: nameOf('one') })).toMatchObject({
      ok: false,
      message: 'A container needs this image',
    });
    expect(await listed()).toContain(nameOf('one'));
  });

  it('are pruned: the preview changes nothing and agrees with what Docker frees itself', async () => {
    await use(['one', 'two', 'used']);
    const preview = await command({ kind: 'image-prune', dryRun: true });
    const doomed = [nameOf('one'), nameOf('two'), nameOf('used')].toSorted();
    expect(outcomeOf(preview).references).toEqual(doomed);
    expect(await listed()).toEqual(expect.arrayContaining(doomed));

    const byDocker = await docker.pruneImages({
      filters: { dangling: ['false'], label: [`stagi.prune-test=${process.pid}`] },
    });
    console.log(`a prune: n = 3 images, told ${preview.outcome?.bytes} bytes, Docker freed ${byDocker.SpaceReclaimed}`);
    expect(preview.outcome?.bytes).toBe(byDocker.SpaceReclaimed);
    expect(preview.outcome?.bytes).toBeGreaterThan(2_000_000);
  });

  it('are pruned by the daemon: what nothing needs goes, the rest stays', async () => {
    await use(['one', 'two']);
    const pruned = await command({ kind: 'image-prune', dryRun: false });
    // The other name of the second image is not ours, so that it stays with both.
    expect(outcomeOf(pruned).references).toEqual([nameOf('one')]);
    expect(pruned.outcome?.bytes).toBeGreaterThanOrEqual(1_500_000);
    const left = await listed();
    expect(left).not.toContain(nameOf('one'));
    expect(left).toEqual(expect.arrayContaining([nameOf('two'), nameOf('used'), nameOf('theirs'), TEST_IMAGE]));
  });
});

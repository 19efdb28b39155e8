import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND_AUDIENCE } from '@stagi/contract/desiredState.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCommandJournal } from './commandJournal.ts';
import { openContainerRecords } from './containerRecords.ts';
import { openDesired, verifyCommand } from './desiredState.ts';
import { enrol, loadIdentity } from './identity.ts';
import { pathsFrom } from './paths.ts';
import { installSshKeys, readSshKeys, replaceKeys } from './sshKeys.ts';
import { container } from './testing/daemon.ts';
import { type FakePlatform, startFakePlatform } from './testing/platform.ts';

let folder: string;
let platform: FakePlatform;
const paths = (name = 'a') =>
  pathsFrom({ STAGI_CONFIG_DIR: join(folder, name), STAGI_STATE_DIR: join(folder, `${name}-state`) });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stagid-unit-'));
  platform = await startFakePlatform();
});
afterEach(async () => {
  await platform.close();
  await rm(folder, { recursive: true });
});

describe('enrolment', () => {
  it('makes a key that only root reads and pins the platform', async () => {
    const identity = await enrol(await platform.token(), paths());
    expect(identity).toMatchObject({ node: '7', origin: platform.origin, kind: 'self-hosted' });
    expect(await loadIdentity(paths())).toEqual(identity);
    expect((await stat(paths().key)).mode & 0o777).toBe(0o600);
    expect(await readFile(paths().identity, 'utf8')).not.toContain('PRIVATE');
  });

  it('is idempotent on the same server and refused on another', async () => {
    const token = await platform.token();
    await enrol(token, paths());
    await expect(enrol(token, paths())).resolves.toMatchObject({ node: '7' });
    await expect(enrol(token, paths('b'))).rejects.toThrow('This enrolment file has been used already');
    expect(await loadIdentity(paths('b'))).toBeNull();
    expect(await readdir(paths('b').config)).toEqual([]);
  });

  it('says what is wrong with a file', async () => {
    await expect(enrol('garbage', paths())).rejects.toThrow('damaged or is none of ours');
    await expect(enrol(await platform.token({ exp: 1000 }), paths())).rejects.toThrow('expired');
    await expect(enrol(await platform.token({ origin: 'http://127.0.0.1:9' }), paths())).rejects.toThrow(
      'cannot be reached',
    );
  });
});

describe('the desired state', () => {
  const hour = () => Math.floor(Date.now() / 1000) + 3600;
  const claims = (gen: number, more: object = {}) => ({
    aud: COMMAND_AUDIENCE,
    node: '7',
    gen,
    iat: 0,
    exp: hour(),
    containers: [container(1, 'true')],
    sshKeys: null,
    ...more,
  });

  it('accepts only newer generations, and survives a restart after it expired', async () => {
    const identity = await enrol(await platform.token(), paths());
    const store = await openDesired(paths().desired, identity);
    const second = await platform.sign('desired+jwt', claims(2, { exp: Math.floor(Date.now() / 1000) - 30 }));
    expect(await store.accept(second)).toBe(true);
    expect(await store.accept(second)).toBe(false);
    expect(await store.accept(await platform.sign('desired+jwt', claims(1)))).toBe(false);
    const again = await openDesired(paths().desired, identity);
    expect(again.current()?.gen).toBe(2);
  });

  it('is refused when it was signed by another key, for another node or purpose, or has expired', async () => {
    const identity = await enrol(await platform.token(), paths());
    const store = await openDesired(paths().desired, identity);
    const stranger = await startFakePlatform();
    const bad = [
      await stranger.sign('desired+jwt', claims(1)),
      await platform.sign('desired+jwt', claims(1, { node: '8' })),
      await platform.sign('command+jwt', claims(1)),
      await platform.sign('desired+jwt', claims(1, { aud: 'stagi-daemon-link' })),
      await platform.sign('desired+jwt', claims(1, { exp: 1000 })),
      await platform.sign('desired+jwt', claims(1, { exp: undefined })),
      `${await platform.sign('desired+jwt', claims(1))}x`,
    ];
    for (const document of bad) await expect(store.accept(document)).rejects.toThrow();
    expect(store.current()).toBeNull();
    const desired = await platform.sign('desired+jwt', claims(1));
    await expect(verifyCommand(desired, identity)).rejects.toThrow();
    await stranger.close();
  });

  it('of another node is dropped when the server enrols again', async () => {
    const identity = await enrol(await platform.token(), paths());
    await (await openDesired(paths().desired, identity)).accept(await platform.sign('desired+jwt', claims(5)));
    const reopened = await openDesired(paths().desired, { ...identity, node: '9' });
    expect(reopened.current()).toBeNull();
  });
});

describe('the command journal', () => {
  it('keeps entries for seven days, over restarts and a last line that a crash cut off', async () => {
    let now = 1_000_000;
    const journal = await openCommandJournal(paths().journal, () => now);
    await journal.begin('one', 'before');
    await journal.finish('one', { ok: true, message: null });
    await journal.begin('two', null);
    await journal.close();
    await appendFile(paths().journal, '{"id":"three","at":');

    const second = await openCommandJournal(paths().journal, () => now);
    expect(second.find('one')).toMatchObject({ result: { ok: true }, before: 'before' });
    expect(second.find('two')).toMatchObject({ result: null });
    expect(second.find('three')).toBeUndefined();
    await second.close();

    now += 8 * 24 * 3_600_000;
    const third = await openCommandJournal(paths().journal, () => now);
    expect(third.find('one')).toBeUndefined();
    await third.close();
  });
});

describe('the records of containers', () => {
  it('tell after a crash whether a start happened', async () => {
    const records = await openContainerRecords(paths().containerRecords);
    await records.aboutToStart(1, 4, 'before');
    const after = await openContainerRecords(paths().containerRecords);
    expect(after.begunGen({ id: 1, startedAt: 'before' })).toBe(0);
    expect(after.begunGen({ id: 1, startedAt: 'later' })).toBe(4);
  });

  it('keep a permanent failure for its generation only', async () => {
    const records = await openContainerRecords(paths().containerRecords);
    await Promise.all([1, 2, 3].map((id) => records.fail(id, { gen: 2, phase: 'pull', message: 'no' })));
    const after = await openContainerRecords(paths().containerRecords);
    expect(after.failure(2, 2)?.message).toBe('no');
    expect(after.failure(2, 3)).toBeNull();
    await after.forgetExcept(new Set([2]));
    expect((await openContainerRecords(paths().containerRecords)).failure(3, 2)).toBeNull();
  });

  it('tell of a container that is gone whether it may have been started', async () => {
    const records = await openContainerRecords(paths().containerRecords);
    expect(records.hasBegun(1)).toBe(false);
    await records.aboutToStart(1, 4, null);
    expect((await openContainerRecords(paths().containerRecords)).hasBegun(1)).toBe(true);
    await records.started(1, 4);
    expect((await openContainerRecords(paths().containerRecords)).hasBegun(1)).toBe(true);
  });

  it('keep what became of the run of a task', async () => {
    const records = await openContainerRecords(paths().containerRecords);
    await records.changeTask(1, { phase: 'saving', interrupted: true });
    records.noteTask(1, { files: 3 });
    expect(records.task(1)).toMatchObject({ phase: 'saving', files: 3 });
    await records.started(1, 4);
    const after = await openContainerRecords(paths().containerRecords);
    expect(after.task(1)).toMatchObject({ phase: 'saving', interrupted: true, files: 3 });
    expect(after.task(2)).toBeNull();
  });

  it('of an earlier daemon are read', async () => {
    await mkdir(paths().state, { recursive: true });
    const earlier = { begunGen: 3, intent: null, endedGen: 2, failed: null };
    await writeFile(paths().containerRecords, JSON.stringify({ 5: earlier }));
    const records = await openContainerRecords(paths().containerRecords);
    expect(records.begunGen({ id: 5, startedAt: null })).toBe(3);
    expect(records.task(5)).toBeNull();
  });
});

describe('authorized SSH keys', () => {
  const mine = 'ssh-ed25519 AAAAC3Nza mine';
  const file = () => join(folder, 'ssh/authorized_keys');

  it('are kept between markers, and the lines of the user stay', async () => {
    const before = replaceKeys('ssh-rsa AAAA first\n', []);
    expect(before).toBe('ssh-rsa AAAA first\n');
    await installSshKeys(file(), [mine]);
    await appendFile(file(), 'ssh-rsa BBBB by-hand\n');
    await installSshKeys(file(), ['ssh-ed25519 AAAAC3Nzb other']);
    expect(await readSshKeys(file())).toEqual(['ssh-ed25519 AAAAC3Nzb other']);
    expect(await readFile(file(), 'utf8')).toContain('by-hand');
    await installSshKeys(file(), []);
    expect(await readFile(file(), 'utf8')).toBe('ssh-rsa BBBB by-hand\n');
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  it('are refused when they hold more than a key', async () => {
    await expect(installSshKeys(file(), [`${mine}\nssh-rsa EVIL`])).rejects.toThrow('no public key');
    await expect(installSshKeys(file(), ['command="x" ssh-rsa AAAA'])).rejects.toThrow('no public key');
  });
});

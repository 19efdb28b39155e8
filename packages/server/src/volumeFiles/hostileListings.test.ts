import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { type HostileDaemon, joinHostileDaemon, LISTED } from './testing/hostileDaemon.ts';

let app: TestApp;
let owner: Person;
let daemon: HostileDaemon;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  owner = await app.signUp();
  daemon = await joinHostileDaemon(app, owner);
});
afterAll(async () => {
  await daemon?.close();
  await app?.close();
});

const answerWith = (text: string) => daemon.answerWith({ head: text, unit: '', count: 0, tail: '' });
const listing = (entries: readonly object[], next: unknown = null): string => JSON.stringify({ entries, next });
const list = (limit: number) => owner.client(api.volumeFiles.list, { ...daemon.of, limit });
const named = (count: number, name = (n: number) => `file ${n}`) =>
  Array.from({ length: count }, (_, n) => ({ ...LISTED, name: name(n) }));

it('gives no more entries than were asked for', async () => {
  for (const [sent, limit] of [
    [0, 1],
    [1, 1],
    [2, 1],
    [100, 100],
    [101, 100],
    [1_500, 100],
  ] as const) {
    await answerWith(listing(named(sent)));
    const { entries } = await list(limit);
    expect(entries.map(({ name }) => name)).toEqual(named(Math.min(sent, limit)).map(({ name }) => name));
  }
});

it('reads a page of the longest names, each byte of them escaped', async () => {
  const longest = named(1_000, () => '\\xff'.repeat(255));
  await answerWith(listing(longest, '\\xff'.repeat(100)));
  expect((await list(1_000)).entries).toHaveLength(1_000);
});

it('refuses answers that are longer than was asked for, or none', async () => {
  const answers: Record<string, string> = {
    '270,000 entries': listing(named(270_000)),
    'a name of a megabyte': listing(named(1, () => 'x'.repeat(1_000_000))),
    'a megabyte of spaces': `${listing([])}${' '.repeat(1_000_000)}`,
    'entries of nothing': `{"entries":[${'{},'.repeat(50)}{}],"next":null}`,
    'no JSON': 'x',
    'half of it': listing(named(3)).slice(0, -5),
    'no entries': '{}',
    'a number': '1',
    'a negative size': listing([{ ...LISTED, sizeBytes: -1 }]),
    'a date that is none': listing([{ ...LISTED, modifiedAt: '2026-02-31T00:00:00Z' }]),
    nothing: '',
  };
  for (const [what, text] of Object.entries(answers)) {
    await answerWith(text);
    await expect(list(100), what).rejects.toMatchObject({ status: 503 });
  }
  await answerWith(listing(named(2)));
  expect((await list(100)).entries).toHaveLength(2);
  const path = 'a';
  await answerWith(JSON.stringify({ ...LISTED, etag: 'e', more: 'x'.repeat(20_000) }));
  await expect(owner.client(api.volumeFiles.view, { ...daemon.of, path })).rejects.toMatchObject({ status: 503 });
  await answerWith(JSON.stringify(LISTED));
  expect((await owner.client(api.volumeFiles.view, { ...daemon.of, path })).entry.name).toBe('a');
});

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Api, api, everyCall } from '@stagi/contract/api.ts';
import { createClient } from '@stagi/contract/apiClient.ts';
import type { Call } from '@stagi/contract/call.ts';
import { describe, expect, it } from 'vitest';
import { NOT_RECORDED, NOTHING_CHANGES, sendFromRecording } from './answers.ts';
import { type Part, partOf, type Recording } from './recorded.ts';
import { shiftTimes } from './shownTimes.ts';

const SOURCES = join(import.meta.dirname, '..');
const MOST_KB = 150;

const read = (part: Part) => readFileSync(join(import.meta.dirname, `recording/${part}.json`), 'utf8');
const recordings: Record<Part, Recording> = {
  workspace: JSON.parse(read('workspace')),
  models: JSON.parse(read('models')),
};
const answers = Object.values(recordings).flatMap((recording) => recording.answers);
const calls = new Map<string, Call>(everyCall().map((call) => [call.path, call]));

/** Reads that no page of the demo shows. */
const UNREAD: Record<string, string> = {
  'secondFactor.stepUpBegin': 'sends a mail',
  'projects.viewDeletion': 'before deleting',
  'account.deletion': 'before deleting',
  'billing.zero': 'the balance is not zero',
  'content.list': 'written pages are outside of the demo',
  'content.page': 'written pages are outside of the demo',
  'gettingStarted.view': 'the checklist is closed',
  'invites.view': 'outside of the demo',
  'apps.authorizationRequest': 'outside of the demo',
  'projectCode.search': 'searches in the repository',
  'sharing.shareLinks': 'in the panel of an object',
  'tasks.viewSchedule': 'in the form that changes a schedule',
};

/** For operators, whose pages are not in the demo. */
const OF_OPERATORS =
  /^(admin\w+|strays|providers|promoCodes|signUpLinks|ledger|feedback|contact|audit\.(listForOperators|listChecks|listActorsForOperators))\b/;

describe('the recording', () => {
  it('fits the contract, each input and each answer', () => {
    expect(answers.length).toBeGreaterThan(100);
    const misfits = answers.flatMap(([path, input, body]) => {
      const call = calls.get(path);
      if (!call) return [`${path}: the contract has no such call`];
      const checks = [call.input.safeParse(input), call.output.safeParse(body)];
      return checks.flatMap(({ error }) => (error ? [`${path}: ${error.message.slice(0, 300)}`] : []));
    });
    expect(misfits).toEqual([]);
  });

  it('answers every call that a page reads', () => {
    const recorded = new Set(answers.map(([path]) => path));
    const missing = [...readCalls()].filter((name) => {
      const [domain, call] = name.split('.') as [keyof Api, string];
      const { path } = (api[domain] as Record<string, Call>)[call]!;
      return !recorded.has(path) && !OF_OPERATORS.test(name) && !UNREAD[name];
    });
    expect(missing).toEqual([]);
  });

  it('is light enough', () => {
    const sizes = (['workspace', 'models'] as const).map((part) => gzipSync(read(part), { level: 9 }).length / 1000);
    console.log(`recording: ${answers.length} answers, ${sizes.map((kb) => kb.toFixed(1)).join(' + ')} kB gzipped`);
    expect(sizes[0]! + sizes[1]!).toBeLessThan(MOST_KB);
  });

  it('names nothing of the machine that it was made on', () => {
    for (const part of ['workspace', 'models'] as const)
      expect(read(part).match(/localhost|127\.0\.0\.1|Simulated|Headless|\/tmp\//)).toBeNull();
  });
});

describe('the demo', () => {
  const openedAt = Date.parse(recordings.workspace.recordedAt) + 10 * 86_400_000;
  const send = sendFromRecording({
    recordingOf: async (path) => recordings[partOf(path)],
    openedAt,
    now: () => openedAt + 60_000,
  });
  const said: string[] = [];
  const client = createClient({
    send,
    session: { get: () => ({ accessToken: 'demo', refreshToken: 'demo' }), set: () => {} },
    clientId: () => 1,
    on: { message: (text) => said.push(text) },
  });

  it('filters, sorts and pages lists', async () => {
    const list = (entityFilterRequest: object) => client(api.containers.list, { entityFilterRequest });
    const whole = await list({});
    expect(whole.totalCount).toBeGreaterThan(3);
    const titles = whole.entities.map(({ title }) => title);
    const byTitle = await list({ orderByField: 'title', orderByDirection: 'asc', limit: 100 });
    expect(byTitle.entities.map(({ title }) => title)).toEqual(
      titles.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })),
    );
    const second = await list({ page: 2, limit: 2 });
    expect(second.entities.map(({ title }) => title)).toEqual(titles.slice(2, 4));
    const found = await list({ queryString: 'noteb' });
    expect(found.entities.map(({ slug }) => slug)).toEqual(['notebook']);
    expect((await list({ statuses: ['stopped'] })).entities).toEqual([]);
  });

  it('filters the marketplace and keeps the order of prices', async () => {
    const { entities } = await client(api.hardware.offers, {
      filters: { gpu: 'with' },
      entityFilterRequest: { limit: 100 },
    });
    expect(entities.length).toBeGreaterThan(8);
    expect(entities.every(({ gpu }) => gpu !== null)).toBe(true);
    const prices = entities.map(({ pricePerHour }) => Number(pricePerHour.STAGI.decimalValue));
    expect(prices).toEqual(prices.toSorted((a, b) => a - b));
  });

  it('draws charts of any range up to now', async () => {
    const { entities } = await client(api.instances.list, { entityFilterRequest: { statuses: ['online'] } });
    const id = entities[0]!.id;
    const hour = await client(api.metrics.rented, { id });
    expect(hour.times.length).toBeGreaterThan(200);
    expect(hour.times.at(-1)! * 1000).toBeGreaterThan(openedAt);
    expect(hour.series.find(({ name }) => name === 'gpuUse')?.avg.some((figure) => figure !== null)).toBe(true);
    const week = await client(api.metrics.rented, { id, from: new Date(openedAt - 7 * 86_400_000).toISOString() });
    expect(week.times.length).toBeGreaterThan(100);
    expect(week.times.length).toBeLessThanOrEqual(501);
  });

  it('searches and pages logs', async () => {
    const { entities } = await client(api.containers.list, { entityFilterRequest: { queryString: 'assistant' } });
    const source = { type: 'docker-container', id: entities[0]!.id } as const;
    const { lines, lastSeq } = await client(api.logging.query, { source, limit: 50 });
    expect(lines).toHaveLength(50);
    expect(lines.at(-1)!.seq).toBe(lastSeq);
    const older = await client(api.logging.query, { source, limit: 50, cursor: { before: lines[0]!.seq } });
    expect(older.lines.at(-1)!.seq).toBe(lines[0]!.seq - 1);
    const found = await client(api.logging.query, { source, text: 'warn .*limit', mode: 'regex' });
    expect(found.lines.length).toBeGreaterThan(0);
    expect(found.lines.every(({ text }) => text.startsWith('WARN'))).toBe(true);
  });

  it('moves times on: things keep their age, and what is alive is seen just now', async () => {
    const moment = Date.parse('2026-01-02T03:04:05.000Z');
    const shift = { recordedAt: moment, openedAt: moment + 86_400_000, now: moment + 86_460_000 };
    const answer = {
      createdAt: '2026-01-01T00:00:00.000Z',
      daemonSeenAt: '2026-01-02T03:04:00.000Z',
      day: '2026-01-02',
    };
    expect(shiftTimes(answer, shift)).toEqual({
      createdAt: '2026-01-02T00:00:00.000Z',
      daemonSeenAt: '2026-01-03T03:04:57.000Z',
      day: '2026-01-03',
    });
    expect(shiftTimes({ time: '2026-01-02T03:04:05.123456789Z' }, shift).time).toBe('2026-01-03T03:04:05.123456789Z');
    const { entities } = await client(api.instances.list, { entityFilterRequest: { statuses: ['online'] } });
    const seen = openedAt + 60_000 - Date.parse(entities[0]!.daemonSeenAt!);
    expect(seen).toBe(8_000);
  });

  it('changes nothing, and says so; what was not recorded too', async () => {
    said.length = 0;
    await expect(client(api.instances.terminate, { id: 1 })).rejects.toThrow(NOTHING_CHANGES);
    await expect(client(api.projects.create, { title: 'Mine', slug: 'mine' })).rejects.toThrow(NOTHING_CHANGES);
    await expect(client(api.storages.downloadLink, { id: 1, key: 'a' })).rejects.toThrow(NOT_RECORDED);
    await expect(client(api.containers.view, { id: 987_654 })).rejects.toThrow(NOT_RECORDED);
    expect(said).toEqual([NOTHING_CHANGES, NOTHING_CHANGES, NOT_RECORDED, NOT_RECORDED]);
  });

  it('refuses every call that changes something', async () => {
    const changing = everyCall().filter(({ path }) =>
      /\/(create|edit|delete|terminate|stop|start|rent|add|remove|revoke)$/.test(path),
    );
    expect(changing.length).toBeGreaterThan(40);
    for (const { path } of changing) {
      const { body } = await send(path, {}, { headers: {} });
      expect([path, (body as { message?: string }).message]).toEqual([path, NOTHING_CHANGES]);
    }
  });
});

/** The calls that pages read through the cache, by their names. */
function readCalls(): Set<string> {
  const names = new Set<string>();
  for (const file of globSync('**/*.{ts,tsx}', { cwd: SOURCES })) {
    const text = readFileSync(join(SOURCES, file), 'utf8');
    for (const [, name] of text.matchAll(/\b(?:q|read|useList)\(\s*api\.(\w+\.\w+)/g)) names.add(name!);
  }
  return names;
}

import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { line } from '../logging/testing/shipped.ts';
import { type CloudApp, startCloudApp, viewInstance } from '../testing/cloudApp.ts';
import { aContainer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { aLoggedServer, linesInPostgres, printRecords, slugOfContainer, waitForCopy } from './testing/loggedServer.ts';
import { objectsOf, zstdcat } from './testing/readBucket.ts';

let app: CloudApp;
let alice: Person;
beforeAll(async () => {
  app = await startCloudApp({ LOG_COPY_SECONDS: '1' });
});
// A plan allows few servers at a time.
beforeEach(async () => {
  alice = await app.signUp();
});
afterAll(() => app?.close());

describe('a log bucket', () => {
  it('gets each line once, with gaps in their place, as files that zstdcat reads', async () => {
    const server = await aLoggedServer(app, alice);
    const container = await aContainer(app.ctx, alice, server.id);
    const hour = BigInt(Date.UTC(2026, 2, 1, 22)) * 1_000_000n;
    const ship = await printRecords(app, server, container, [
      line('one', { timeNs: hour + 1n }),
      line('two "quoted" \u0007 ünï 🚀', { timeNs: hour + 2n, stream: 'stderr' }),
    ]);
    const gap = {
      from: '2026-03-01T22:30:00.000000000Z',
      to: '2026-03-01T22:40:00.000000000Z',
      reason: 'rotated away',
    };
    const offset = await ship.print(line('three', { timeNs: hour + 3n }));
    ship.daemon.send({ type: 'log-gap', stream: 1, offset, ...gap });
    await ship.print(line('next hour', { timeNs: hour + 3_600_000_000_000n }), line('', { timeNs: hour + 4n }));
    await waitForCopy(app, container);
    await ship.print(line('later', { timeNs: hour + 3_600_000_000_001n }));
    await waitForCopy(app, container);

    const slug = await slugOfContainer(alice, container);
    const objects = await objectsOf(app.ctx, server.storageId);
    expect([...objects.keys()]).toEqual([
      `${slug}/2026/03/01/22-000000000001.ndjson.zst`,
      `${slug}/2026/03/01/23-000000000004.ndjson.zst`,
      `${slug}/2026/03/01/23-000000000006.ndjson.zst`,
    ]);
    const lines = await linesInPostgres(alice, container);
    expect(lines).toHaveLength(6);
    expect(await zstdcat(objects.values())).toEqual([
      ...lines.slice(0, 3),
      { gap: { afterSeq: 3, ...gap } },
      ...lines.slice(3),
    ]);
    expect(lines[1]).toEqual({
      seq: 2,
      time: '2026-03-01T22:00:00.000000002Z',
      stream: 'stderr',
      text: 'two "quoted" \u0007 ünï 🚀',
    });
    const size = [...objects.values()].reduce((sum, { length }) => sum + length, 0);
    expect((await viewInstance(alice, server.id)).logBucket).toMatchObject({ usedBytes: size });
    const storage = (await alice.client(api.storages.view, { id: server.storageId })).entity;
    expect(storage).toMatchObject({ kind: 'log', usedBytes: size, objectCount: 3, instance: { id: server.id } });
    const { id } = storage;
    const key = { title: 'reader', mode: 'read-write' as const };
    await expect(alice.client(api.storages.edit, { id, sizeGb: 200 })).rejects.toThrow('fixed size');
    await expect(alice.client(api.storages.delete, { id, slugTyped: storage.slug })).rejects.toThrow('30 days');
    await expect(alice.client(api.storages.createKey, { id, ...key })).rejects.toThrow('read-only');
    await ship.daemon.close();
  });
});

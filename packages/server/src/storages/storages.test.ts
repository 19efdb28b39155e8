import { randomUUID } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { announce } from '../bus/bus.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';

let app: TestApp;
let alice: Person;
let n = 0;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());
beforeEach(async () => {
  alice = await app.signUp();
});

function newSlug(): string {
  n += 1;
  return `store-${Date.now().toString(36)}-${n}`;
}
const input = (over: object = {}) => ({ title: 'Data', slug: newSlug(), sizeGb: 10, location: 'local', ...over });

async function create(person: Person, over: object = {}) {
  const { entity } = await person.client(api.storages.create, input(over));
  return entity;
}

async function rented(person: Person, over: object = {}) {
  const { id } = await create(person, over);
  await expect
    .poll(async () => (await person.client(api.storages.view, { id })).entity.status, { interval: 50 })
    .toBe('rented');
  return (await person.client(api.storages.view, { id })).entity;
}

async function turnIntoLogBucket(person: Person, id: number) {
  const instance = await app.ctx.db
    .insertInto('instance')
    .values({ workspace_id: person.workspaceId, kind: 'rented', slug: newSlug(), title: 't', status: 'online' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await app.ctx.db.updateTable('storage').set({ kind: 'log', instance_id: instance.id }).where('id', '=', id).execute();
}

const fill = (bucket: string, bytes: number) =>
  sql`update s3_bucket set used_bytes = ${bytes} where name = ${bucket}`.execute(app.ctx.db);

describe('creating a storage', () => {
  it('answers at once, and it is rented within seconds', async () => {
    const made = await create(alice, { title: 'Models', sizeGb: 20 });
    expect(made).toMatchObject({ kind: 'storage', title: 'Models', status: 'renting', sizeGb: 20, usedBytes: 0 });
    expect(made.statusDeadline).not.toBeNull();
    expect(made.pricePerMonth.STAGI.decimalValue).toBe('0.40');
    await expect
      .poll(async () => (await alice.client(api.storages.view, { slug: made.slug })).entity, { interval: 50 })
      .toMatchObject({ status: 'rented', statusDeadline: null, bucket: made.slug, location: 'local' });
    const { entities, totalCount } = await alice.client(api.storages.list, {});
    expect(totalCount).toBe(1);
    expect(entities[0]).toMatchObject({ id: made.id, endpoint: app.ctx.config.s3Origin });
  });

  it.each([
    [{ title: ' ' }, 'title', 'Title is required'],
    [{ slug: '' }, 'slug', 'Unique ID is required'],
    [{ slug: 'a b c' }, 'slug', 'Unique ID may contain only letters, digits and single hyphens between them'],
    [{ slug: 'log-mine' }, 'slug', 'A Unique ID that begins with "log-" is reserved for log buckets'],
    [{ sizeGb: 0 }, 'sizeGb', 'Size must be between 1 and 10,000 GB'],
    [{ sizeGb: 10_001 }, 'sizeGb', 'Size must be between 1 and 10,000 GB'],
    [{ sizeGb: 1.5 }, 'sizeGb', 'Size must be a whole number of GB'],
    [{ location: '' }, 'location', 'Location is required'],
    [{ location: 'nowhere' }, 'location', 'This location cannot be chosen'],
  ])('refuses %j at its field', async (over, field, message) => {
    await expect(create(alice, over)).rejects.toMatchObject({
      status: 400,
      body: { message, fieldsWithError: [field] },
    });
    expect((await alice.client(api.storages.list, {})).totalCount).toBe(0);
  });

  it('refuses a Unique ID that another workspace has', async () => {
    const bob = await app.signUp();
    const { slug } = await create(bob);
    await expect(create(alice, { slug })).rejects.toMatchObject({
      body: { message: 'This Unique ID is taken', fieldsWithError: ['slug'] },
    });
  });

  it('refuses more than the plan allows, over all Free workspaces of a person', async () => {
    await create(alice, { sizeGb: 45 });
    await expect(create(alice, { sizeGb: 6 })).rejects.toMatchObject({
      body: { message: 'Your plan allows 50 GB of storage in total; 45 GB are taken', fieldsWithError: ['sizeGb'] },
    });
    const form = await alice.client(api.storages.form, {});
    expect(form).toMatchObject({ planGb: 50, usedGb: 45, locations: [{ name: 'local' }] });
  });

  it('lets only as many through at once as the plan allows', async () => {
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => create(alice, { sizeGb: 20 })));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  });

  it('needs the first day in the balance', async () => {
    const { entity } = await alice.client(api.clients.create, { name: 'Without credit' });
    const answer = await app.post('storage/create', input(), {
      authorization: `Bearer ${alice.tokens().accessToken}`,
      'x-client-id': String(entity.clientId),
      'idempotency-key': randomUUID(),
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { isSuccess: false, message: expect.stringMatching(/first day/) },
    });
  });
});

it('lists storages and log buckets apart, or together', async () => {
  const data = await create(alice, { title: 'Data' });
  const log = await create(alice, { title: 'Log' });
  await turnIntoLogBucket(alice, log.id);
  const listed = async (input: object) => {
    const { entities, totalCount } = await alice.client(api.storages.list, input);
    return { ids: entities.map(({ id }) => id), totalCount };
  };
  expect(await listed({ kind: 'storage' })).toEqual({ ids: [data.id], totalCount: 1 });
  expect(await listed({ kind: 'log' })).toEqual({ ids: [log.id], totalCount: 1 });
  expect(await listed({})).toEqual({ ids: [log.id, data.id], totalCount: 2 });
  expect(await listed({ kind: 'log', entityFilterRequest: { queryString: 'Data' } })).toMatchObject({ totalCount: 0 });
  await expect(alice.client(api.storages.list, { kind: 'bucket' as never })).rejects.toMatchObject({ status: 400 });
});

describe('changing a storage', () => {
  it('resizes, never below what it holds, at the new price', async () => {
    const storage = await rented(alice);
    await fill(storage.bucket, 3_500_000_000);
    const grown = await alice.client(api.storages.edit, { id: storage.id, sizeGb: 30, title: 'Larger' });
    expect(grown.entity).toMatchObject({
      sizeGb: 30,
      title: 'Larger',
      pricePerMonth: { STAGI: { decimalValue: '0.60' } },
    });
    await expect(alice.client(api.storages.edit, { id: storage.id, sizeGb: 3 })).rejects.toMatchObject({
      body: { message: 'The size cannot be less than what is stored: 4 GB', fieldsWithError: ['sizeGb'] },
    });
    expect((await alice.client(api.storages.edit, { id: storage.id, sizeGb: 4 })).entity.sizeGb).toBe(4);
    const { rows } = await sql<{ n: number; open: number }>`select count(*)::int as n,
      count(*) filter (where ended_at is null)::int as open
      from segment where kind = 'storage' and resource_id = ${storage.id}`.execute(app.ctx.db);
    expect(rows[0]).toEqual({ n: 3, open: 1 });
  });

  it('deletes it with everything in it, once its Unique ID is typed', async () => {
    const storage = await rented(alice);
    const { entity: key } = await alice.client(api.storages.createKey, {
      id: storage.id,
      title: 'k',
      mode: 'read-write',
    });
    await sql`insert into s3_object (bucket_id, key, size, etag, blobs, blob_sizes)
      select id, convert_to('o' || i, 'UTF8'), 0, '', '{}', '{}' from s3_bucket, generate_series(1, 2500) i
      where name = ${storage.bucket}`.execute(app.ctx.db);
    await sql`update s3_bucket set object_count = 2500, used_bytes = 2500 * 8192 where name = ${storage.bucket}`.execute(
      app.ctx.db,
    );
    await expect(
      alice.client(api.storages.delete, { id: storage.id, slugTyped: 'something-else' }),
    ).rejects.toMatchObject({ body: { fieldsWithError: ['slugTyped'] } });
    const going = await alice.client(api.storages.delete, { id: storage.id, slugTyped: storage.slug });
    expect(going.entity.status).toBe('terminating');
    await expect
      .poll(async () => (await alice.client(api.storages.view, { id: storage.id })).entity.status)
      .toBe('deleted');
    const { rows } = await sql<{ objects: number; revoked: boolean }>`select
      (select count(*)::int from s3_object o join s3_bucket b on b.id = o.bucket_id where b.name = ${storage.bucket}) as objects,
      (select revoked_at is not null from s3_key where access_key_id = ${key.accessKeyId}) as revoked`.execute(
      app.ctx.db,
    );
    expect(rows[0]).toEqual({ objects: 0, revoked: true });
    expect((await alice.client(api.storages.list, {})).totalCount).toBe(0);
    // The name is free again.
    expect((await rented(alice, { slug: storage.slug })).bucket).toBe(storage.slug);
  });

  it('does neither to a log bucket', async () => {
    const storage = await rented(alice);
    await turnIntoLogBucket(alice, storage.id);
    const refusal = { status: 200 };
    await expect(alice.client(api.storages.edit, { id: storage.id, sizeGb: 20 })).rejects.toMatchObject(refusal);
    await expect(alice.client(api.storages.delete, { id: storage.id, slugTyped: storage.slug })).rejects.toMatchObject(
      refusal,
    );
    await expect(
      alice.client(api.storages.createKey, { id: storage.id, title: 'k', mode: 'read-write' }),
    ).rejects.toMatchObject({ body: { fieldsWithError: ['mode'] } });
    await expect(alice.client(api.storages.uploadLink, { id: storage.id, key: 'x' })).rejects.toMatchObject(refusal);
  });
});

describe('keys of a storage', () => {
  it('show their secret once, rotate with an overlap, and end at once', async () => {
    const { id } = await rented(alice);
    const { entity: made } = await alice.client(api.storages.createKey, {
      id,
      title: 'ci',
      mode: 'read-write',
      prefix: 'ci/',
    });
    expect(made.secretAccessKey).toMatch(/^[A-Za-z0-9+/]{40}$/);
    const { entity: next } = await alice.client(api.storages.rotateKey, { id, keyId: made.id, overlapHours: 1 });
    expect(next).toMatchObject({ title: 'ci', mode: 'read-write', prefix: 'ci/' });
    const { entities } = await alice.client(api.storages.keys, {
      id,
      entityFilterRequest: { orderByDirection: 'asc' },
    });
    expect(entities.map(({ accessKeyId }) => accessKeyId)).toEqual([made.accessKeyId, next.accessKeyId]);
    expect(entities[0]).toMatchObject({ replacedBy: next.accessKeyId, expiresAt: expect.any(String) });
    expect(JSON.stringify(entities)).not.toContain(made.secretAccessKey);
    await expect(alice.client(api.storages.rotateKey, { id, keyId: made.id })).rejects.toThrow(/rotated already/);
    await alice.client(api.storages.revokeKey, { id, keyId: next.id });
    expect((await alice.client(api.storages.keys, { id })).entities.map((key) => key.id)).toEqual([made.id]);
    await expect(alice.client(api.storages.revokeKey, { id, keyId: next.id })).rejects.toMatchObject({ status: 404 });
  });
});

describe('a location that does not answer', () => {
  it('fails the creation when its deadline passes, with the cause', async () => {
    // The location is not configured any more when the worker comes to it.
    const { id } = await sql<{ id: number }>`insert into storage
        (workspace_id, kind, slug, title, size_gb, location, price_per_month, status, status_deadline)
      values (${alice.workspaceId}, 'storage', ${newSlug()}, 't', 1, 'gone', 20000, 'renting', now() + interval '10 minutes')
      returning id`
      .execute(app.ctx.db)
      .then(({ rows }) => rows[0]!);
    await expect
      .poll(async () => {
        await sql`update storage set next_at = clock_timestamp(),
          status_deadline = case when attempts > 0 then clock_timestamp() - interval '1 second' else status_deadline end
          where id = ${id} and status = 'renting' and lock_token is null`.execute(app.ctx.db);
        await announce(app.ctx.db, 'due', { kind: 'storage' });
        return (await alice.client(api.storages.view, { id })).entity;
      })
      .toMatchObject({
        status: 'creation failed',
        statusReason: 'The location of this storage does not answer',
        locationTitle: 'gone',
      });
    expect((await alice.client(api.storages.form, {})).usedGb).toBe(0);
  });

  it('is shown as an error after two checks, and gone with the next that succeeds', async () => {
    const { id } = await rented(alice);
    const check = async () => {
      await sql`update storage set next_at = clock_timestamp() where id = ${id} and lock_token is null`.execute(
        app.ctx.db,
      );
      await announce(app.ctx.db, 'due', { kind: 'storage' });
    };
    const statusIs = async (status: string) =>
      expect
        .poll(async () => {
          await check();
          return (await alice.client(api.storages.view, { id })).entity;
        })
        .toMatchObject({ status });
    await sql`update storage set location = 'gone' where id = ${id}`.execute(app.ctx.db);
    await statusIs('error');
    expect((await alice.client(api.storages.view, { id })).entity.statusReason).toBe(
      'The location of this storage does not answer',
    );
    await sql`update storage set location = 'local' where id = ${id}`.execute(app.ctx.db);
    await statusIs('rented');
  });
});

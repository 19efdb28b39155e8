import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../testing/database.ts';
import { MIGRATIONS } from './migrate.ts';

const OWN = '0068_counted_bytes';

it('recounts what was stored before, and leaves buckets of the platform as they are', async () => {
  const base = await createTestDatabase();
  const name = `${new URL(base.url).pathname.slice(1)}_${randomBytes(3).toString('hex')}`;
  const admin = new pg.Client({ connectionString: base.url });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const url = new URL(base.url);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    const at = MIGRATIONS.findIndex((one) => one.name === OWN);
    for (const { sql } of MIGRATIONS.slice(0, at)) await client.query(sql);
    await client.query(`
      insert into s3_bucket (name, admin_owner, location, used_bytes, is_platforms)
        select 'bucket-' || n, 'a', 'local', 7, n = 2 from generate_series(1, 2) n;
      insert into s3_object (bucket_id, key, size, etag, metadata, tags, blobs, blob_sizes)
        select id, key::bytea, size, 'e', metadata::jsonb, tags::json, '{}', '{}' from s3_bucket,
          (values ('\\xc3a9', 20000, '{"é": "é"}', '{"t": "v"}'), ('empty', 0, '{}', '{}')) as o (key, size, metadata, tags);
      insert into s3_upload (id, bucket_id, key) select gen_random_uuid(), id, 'u' from s3_bucket;
      insert into s3_blob (id, bucket_id, location) select gen_random_uuid(), id, 'local' from s3_bucket;
      insert into s3_part (upload_id, number, blob_id, size, etag)
        select u.id, 1, b.id, 9000, 'e' from s3_upload u join s3_blob b using (bucket_id)`);
    await client.query(MIGRATIONS[at]!.sql);
    const { rows } = await client.query<{ used_bytes: string }>('select used_bytes from s3_bucket order by id');
    expect(rows.map((row) => Number(row.used_bytes))).toEqual([20_008 + 8_192 + 8_192 + 9_000, 29_000]);
  } finally {
    await client.end();
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
    await base.drop();
  }
});

import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openPool } from '../db/pool.ts';
import { picturePath } from '../pictures/profilePicture.ts';
import { startTestApp } from '../testing/app.ts';
import { createTestDatabase } from '../testing/database.ts';
import { spawnPlatform } from '../testing/platform.ts';
import { blobName, FILES_FOLDER, readFile } from './keep.ts';
import { removeDoomed } from './worker.ts';

const PICTURES = 150;
const SCREENSHOTS = 50;
const KILLS = 3;
/** Between two reads: without it the reader takes the processor from what is moved. */
const READ_EVERY_MS = 5;

const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

it('moves what the database held, killed several times on the way, and reads work all the time', async () => {
  const database = await createTestDatabase();
  const pool = openPool(database.url);
  const { db } = pool;
  const pictures = new Map<string, string>();
  const screenshots = new Map<number, string>();

  // It moves nothing, and reads while the other process moves and is killed.
  const dataDir = mkdtempSync(join(tmpdir(), 'stagi-move-'));
  const shared = { DATABASE_URL: database.url, STAGI_DATA: dataDir };
  const app = await startTestApp(shared, { role: 'api' });
  let reads = 0;
  const readAll = async (): Promise<void> => {
    for (const [name, hash] of pictures) {
      const reply = await fetch(app.url + picturePath(name));
      expect([reply.status, sha(Buffer.from(await reply.arrayBuffer()))]).toEqual([200, hash]);
      reads += 1;
      await pause(READ_EVERY_MS);
    }
  };
  const platform = await spawnPlatform(shared);
  try {
    await platform.stop();
    await seed();
    await readAll();
    let isMoving = true;
    const reading = (async () => {
      while (isMoving) await readAll();
    })();
    const leftAtKills: number[] = [];
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const before = await left();
      const starting = Promise.allSettled([platform.start()]);
      await expect.poll(left, { timeout: 60_000, interval: 5 }).toBeLessThan(before - 20);
      await platform.stop('SIGKILL');
      await starting;
      leftAtKills.push(await left());
      expect(leftAtKills.at(-1)).toBeGreaterThan(0);
    }
    await platform.start();
    await expect.poll(left, { timeout: 60_000 }).toBe(0);
    isMoving = false;
    await reading;
    await readAll();
    await platform.stop();

    const images = await db.selectFrom('feedback_image').select(['position', 'file_id']).execute();
    expect(images).toHaveLength(SCREENSHOTS);
    for (const { position, file_id } of images)
      expect(sha(await readFile(app.ctx, file_id!))).toBe(screenshots.get(position));
    // Half-written files that the kills left behind are given up after an hour.
    const halfWritten = await db.selectFrom('stored_file').select('id').where('state', '<>', 'stored').execute();
    await sql`update stored_file set created_at = now() - interval '2 hours' where state = 'writing'`.execute(db);
    await removeDoomed(app.ctx);
    const names: string[] = [];
    for await (const { name } of app.ctx.files.list(FILES_FOLDER)) names.push(name);
    const { rows: held } = await sql<{ id: string }>`select file_id as id from user_picture
      union all select file_id from feedback_image`.execute(db);
    expect(names.toSorted()).toEqual(held.map(({ id }) => blobName(id)).toSorted());
    console.log(
      `moved n = ${PICTURES + SCREENSHOTS} images, killed ${KILLS} times with ${leftAtKills.join(', ')} to go: 0 lost, ` +
        `${halfWritten.length} half-written given up; n = ${reads} reads meanwhile, all right`,
    );
  } finally {
    await platform.remove();
    await app.close();
    await pool.close();
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  }

  async function left(): Promise<number> {
    const { rows } = await sql<{ n: number }>`select (
      (select count(*) from user_picture where content is not null) +
      (select count(*) from feedback_image where content is not null))::int as n`.execute(db);
    return rows[0]!.n;
  }

  /** Rows as they were before there was a store. */
  async function seed(): Promise<void> {
    for (let n = 0; n < PICTURES; n += 1) {
      const content = randomBytes(20_000);
      const name = randomBytes(18).toString('base64url');
      const { id } = await db
        .insertInto('app_user')
        .values({ email: `p${n}@example.com`, name: 'P', image: name })
        .returning('id')
        .executeTakeFirstOrThrow();
      await db.insertInto('user_picture').values({ user_id: id, name, mime_type: 'image/png', content }).execute();
      pictures.set(name, sha(content));
    }
    const { id } = await db
      .insertInto('feedback')
      .columns(['user_id', 'topic', 'subject', 'description'])
      .expression(sql`select min(id), 'Report an issue', 's', 'd' from app_user`)
      .returning('id')
      .executeTakeFirstOrThrow();
    for (let position = 0; position < SCREENSHOTS; position += 1) {
      const content = randomBytes(40_000);
      const image = { file_name: 'f', mime_type: 'image/png', width: 1, height: 1, content } as const;
      await db
        .insertInto('feedback_image')
        .values({ feedback_id: id, position, ...image })
        .execute();
      screenshots.set(position, sha(content));
    }
  }
});

import { API_PREFIX } from '@stagi/contract/call.ts';
import { STREAM_CLOSE } from '@stagi/contract/streams.ts';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { eventsOf } from '../../testing/eventStream.ts';
import type { Person } from '../../testing/person.ts';
import { spawnPlatform } from '../../testing/platform.ts';

/**
 * Stops a platform that has a stream open and a call in progress, which it finishes. Answers how many milliseconds that
 * took.
 */
export async function stopBusyPlatform(): Promise<number> {
  const app = await startTestApp();
  const platform = await spawnPlatform({ DATABASE_URL: app.databaseUrl, STAGI_DATA: app.dataDir });
  try {
    const alice = await app.signUp();
    await makeSlow(app, 2);
    const stream = await eventsOf(platform.url, alice);
    const call = addKey(platform.url, alice);
    await expect.poll(() => sleepers(app), { timeout: 60_000 }).toBe(1);

    const since = performance.now();
    const stopped = platform.stop();
    const [answer, code] = await Promise.all([call, stream.closed]);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('connection')).toBe('close');
    expect(code).toBe(STREAM_CLOSE.restarting);
    expect(await stopped).toBe(0);
    return performance.now() - since;
  } finally {
    await platform.remove();
    await app.close();
  }
}

async function makeSlow(app: TestApp, seconds: number): Promise<void> {
  await sql`create function slow() returns trigger language plpgsql as
    ${sql.lit(`begin perform pg_sleep(${seconds}); return new; end`)}`.execute(app.ctx.db);
  await sql`create trigger slow before insert on ssh_key for each row execute function slow()`.execute(app.ctx.db);
}

async function sleepers(app: TestApp): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event = 'PgSleep'`.execute(app.ctx.db);
  return rows[0]!.count;
}

function addKey(url: string, person: Person): Promise<Response> {
  return fetch(`${url}${API_PREFIX}ssh-key/generate`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${person.tokens().accessToken}`,
      'x-client-id': String(person.workspaceId),
      'idempotency-key': crypto.randomUUID(),
    },
    body: JSON.stringify({ title: 'laptop' }),
  });
}

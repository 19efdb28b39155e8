import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';

const EVERY_MS = 5_000;

export interface LastUsed {
  /** A request of this key was authenticated. */
  note(accessKeyId: string): void;
  /** Writes down what was noted. */
  stop(): Promise<void>;
}

/** Notes when keys were last used, for each at most once a minute, apart from the requests. */
export function noteLastUse(ctx: Pick<Context, 'db' | 'log'>): LastUsed {
  const used = new Set<string>();

  async function write(): Promise<void> {
    const ids = [...used];
    if (ids.length === 0) return;
    used.clear();
    await sql`update s3_key set last_used_at = now()
      where id in (select id from s3_key where access_key_id = any(${ids}::text[])
        and (last_used_at is null or last_used_at < now() - interval '1 minute')
        order by id for no key update skip locked)`.execute(ctx.db);
  }

  const loop = repeatEvery(ctx, EVERY_MS, 'noting the use of keys', write, EVERY_MS);
  return {
    note: (accessKeyId) => void used.add(accessKeyId),
    async stop() {
      await loop.stop();
      await write();
    },
  };
}

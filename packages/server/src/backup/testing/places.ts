import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import pg from 'pg';
import { expect } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { type Running, start } from '../../start.ts';
import { createTestDatabase } from '../../testing/database.ts';
import { runOperator } from '../../testing/operator.ts';

/** The environment of a platform and of its commands. */
export type Settings = Record<string, string> & { DATABASE_URL: string; STAGI_DATA: string };

export interface Places {
  newFolder(): string;
  /** A new machine: an empty database, and a data folder with the secret key of the folder `keyFrom`. */
  newPlace(keyFrom?: string): Promise<Settings>;
  remove(): Promise<void>;
}

export function openPlaces(): Places {
  const cleanUps: (() => unknown)[] = [];
  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'stagi-backup-'));
    cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  };
  return {
    newFolder,
    async newPlace(keyFrom) {
      const database = await createTestDatabase({ isEmpty: true });
      cleanUps.push(() => database.drop());
      const STAGI_DATA = newFolder();
      if (keyFrom) cpSync(join(keyFrom, 'secret.key'), join(STAGI_DATA, 'secret.key'));
      return {
        DATABASE_URL: database.url,
        STAGI_DATA,
        PORT: String(await freePort()),
        S3_PORT: String(await freePort()),
        GIT_SSH_PORT: String(await freePort()),
        METRICS_PORT: 'off',
        LOCAL_CLOUD: 'off',
        LOG_LEVEL: 'fatal',
        ALLOWED_HOSTS: '127.0.0.1',
      };
    },
    async remove() {
      for (const cleanUp of cleanUps.reverse()) await cleanUp();
    },
  };
}

/** The output of a command that succeeds. */
export async function done(settings: Settings, ...args: string[]): Promise<string> {
  const { code, out } = await runOperator(settings, ...args);
  expect(code, out).toBe(0);
  return out;
}

/** The output of a command that is refused. */
export async function refusal(settings: Settings, ...args: string[]): Promise<string> {
  const { code, out } = await runOperator(settings, ...args);
  expect(code, out).toBe(1);
  return out;
}

export async function query<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** By table: how many rows, and a digest of them. */
export async function rowsOf(url: string): Promise<Record<string, string>> {
  const tables = await query<{ name: string }>(
    url,
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await query<{ rows: number; digest: string }>(
      url,
      `select count(*)::int as rows, md5(string_agg(md5(t::text), '' order by md5(t::text))) as digest from "${name}" t`,
    );
    found[name] = `${row!.rows} rows ${row!.digest}`;
  }
  return found;
}

/** Starts the platform, does `work` with it, and stops it. */
export async function withPlatform<T>(settings: Settings, work: (running: Running) => Promise<T>): Promise<T> {
  const running = await start(readConfig(settings));
  try {
    return await work(running);
  } finally {
    await running.stop();
  }
}

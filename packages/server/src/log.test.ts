import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import pg from 'pg';
import { afterAll, expect, it } from 'vitest';
import { openLog, showError } from './log.ts';
import { createTestDatabase } from './testing/database.ts';
import { spawnPlatform } from './testing/platform.ts';

const folder = mkdtempSync(join(tmpdir(), 'stagi-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const VALUE = 'canary-value-51c2';

it('logs neither the row nor the value of a database error', async () => {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query('create table secret (id int primary key, text text check (length(text) < 5), n uuid)');
    const statements = [
      `insert into secret (id, text) values (1, '${VALUE}')`,
      `insert into secret (n) values ('${VALUE}')`,
      `insert into secret (id) values ('${VALUE}')`,
      `select '${VALUE}'::jsonb`,
      `do $$ begin raise exception 'no' using detail = '${VALUE}', hint = '${VALUE}'; end $$`,
    ];
    const shown = [];
    for (const statement of statements) {
      const error = await client.query(statement).then(
        () => null,
        (reason: unknown) => reason,
      );
      const cause = new Error('it did not work', { cause: error });
      expect(JSON.stringify([error, String(error)])).toContain(VALUE.slice(0, 2));
      shown.push(showError(error), showError(cause));
    }
    expect(JSON.stringify(shown)).not.toContain(VALUE);
    expect(shown[0]).toMatchObject({ code: '23514', table: 'secret', constraint: 'secret_text_check' });
    expect(shown[1]).toMatchObject({ message: 'it did not work', cause: { code: '23514' } });
    expect(shown[2]).toMatchObject({ message: expect.stringContaining('invalid input syntax for type uuid') });
    console.log(`errors of the database: n = ${shown.length}, 0 values shown`);
  } finally {
    await client.end();
    await database.drop();
  }
});

it('redacts fields with the names of secrets', () => {
  const path = join(folder, 'log');
  const file = openSync(path, 'w');
  const log = openLog({ logLevel: 'info', logFormat: 'json' }, { logged: () => {}, logLost: () => {} }, file);
  log.info({ password: VALUE, user: { refreshToken: VALUE, deep: { token: VALUE } } }, 'said');
  log.info(
    { err: Object.assign(new Error('no'), { client: { password: VALUE }, detail: VALUE, input: VALUE }) },
    'said',
  );
  closeSync(file);
  const text = readFileSync(path, 'utf8');
  expect(text.match(/"msg":"said"/g)).toHaveLength(2);
  expect(text).not.toContain(VALUE);
});

it('writes short lines for people, with the stack of an error and without secrets', () => {
  const path = join(folder, 'text');
  const file = openSync(path, 'w');
  const log = openLog({ logLevel: 'info', logFormat: 'text' }, { logged: () => {}, logLost: () => {} }, file);
  log.info({ instanceId: 7, password: VALUE, of: { a: 1 } }, 'said');
  log.warn({ err: new Error('hung up') }, 'while stopping');
  log.error({ err: new Error('no answer') }, 'call failed');
  closeSync(file);
  const [said, warned, failed, ...stack] = stripVTControlCharacters(readFileSync(path, 'utf8')).trim().split('\n');
  expect(said).toMatch(/^\s*\d\d:\d\d:\d\d info {2}said instanceId=7 password=\[Redacted\] of=\{"a":1\}$/);
  expect(warned).toMatch(/^\s*\d\d:\d\d:\d\d warn {2}while stopping: hung up$/);
  expect(failed).toMatch(/^\s*\d\d:\d\d:\d\d error call failed: no answer$/);
  expect(stack[0]).toMatch(/^ {4}at .*log\.test\.ts/);
});

it('drops lines that cannot be written, and the process goes on', { timeout: 120_000 }, async () => {
  const database = await createTestDatabase();
  // Every write to it fails with ENOSPC.
  const full = openSync('/dev/full', 'w');
  const platform = await spawnPlatform({ DATABASE_URL: database.url, LOG_LEVEL: 'debug' }, { stdout: full });
  try {
    for (let n = 0; n < 50; n += 1) expect((await fetch(`${platform.url}/healthz`)).status).toBe(200);
    const metrics = await (await fetch(platform.metricsUrl)).text();
    const lost = Number(metrics.match(/^stagi_log_messages_lost_total (\d+)$/m)?.[1]);
    expect(lost).toBeGreaterThan(0);
    expect(await platform.stop()).toBe(0);
    console.log(`log on a full disk: n = ${lost} messages lost, platform alive`);
  } finally {
    await platform.remove();
    closeSync(full);
    await database.drop();
  }
});

it.each(['json', 'text'] as const)('keeps a line of its own for each record, without controls, as %s', (logFormat) => {
  const path = join(folder, `controls-${logFormat}`);
  const file = openSync(path, 'w');
  const log = openLog({ logLevel: 'info', logFormat }, { logged: () => {}, logLost: () => {} }, file);
  const hostile = 'a\r\n{"level":30}\x1b[2J\x7f\x9b31m\u2028b';
  log.info({ host: hostile, deep: { hostile } }, hostile);
  log.warn({ err: new Error(hostile) }, 'failed');
  closeSync(file);
  const lines = readFileSync(path, 'utf8').replaceAll('\r\x1b[K', '').trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\u2028]/u);
  if (logFormat === 'json') expect(JSON.parse(lines[0]!)).toMatchObject({ host: hostile, msg: hostile });
});

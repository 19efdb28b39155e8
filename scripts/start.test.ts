import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { createTestDatabase } from '@stagi/server/src/testing/database.ts';
import { afterEach, expect, it } from 'vitest';

const CTRL_C = '\x03';
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

it('tells people at a terminal each step with its time, where everything is, and how it stops', async () => {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const { folder, port, terminal } = await startOnTerminal({ DATABASE_URL: database.url });
  await expect.poll(terminal.lines).toContain('  Stop     Ctrl-C; rented servers keep running');
  terminal.type(CTRL_C);
  expect(await terminal.end()).toBe(0);
  const shown = terminal.lines().filter((line) => line !== '' && !/^\d\d:\d\d:\d\d info /.test(line));
  expect(shown.map((line) => line.replace(/\d+\.\d s$/, 'N s'))).toEqual([
    '✓ Database up to date  N s',
    'Stagi is running.',
    `  Address  http://localhost:${port}`,
    `  Mails    http://localhost:${port}/dev/mail`,
    `  Data     ${folder}`,
    '  Stop     Ctrl-C; rented servers keep running',
    '✓ Stopped  N s',
  ]);
  expect(terminal.text()).not.toContain('{"level"');
});

it('writes JSON lines on a terminal with LOG_FORMAT=json', async () => {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const { port, terminal } = await startOnTerminal({ DATABASE_URL: database.url, LOG_FORMAT: 'json' });
  await expect.poll(terminal.text).toContain('"msg":"serving"');
  terminal.type(CTRL_C);
  expect(await terminal.end()).toBe(0);
  const lines = terminal.lines().filter((line) => line !== '' && line !== '^C');
  expect(lines.map((line) => JSON.parse(line.replace('^C', '')))).toContainEqual(
    expect.objectContaining({ msg: 'serving', origin: `http://localhost:${port}` }),
  );
});

it('names the step that failed, and ends with one sentence that says what to do', async () => {
  const { terminal } = await startOnTerminal({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
  expect(await terminal.end()).toBe(1);
  const [step, ...rest] = terminal.lines().filter((line) => line !== '');
  expect(step).toMatch(/^✗ Migrating the database {2}\d+\.\d s$/);
  expect(rest).toEqual([
    'Stagi cannot start. The database cannot be used: connect ECONNREFUSED 127.0.0.1:1. Check DATABASE_URL and that PostgreSQL runs there; without DATABASE_URL, Stagi starts its own.',
  ]);
});

/** `npm start` without its packages and builds, on a pseudoterminal. */
async function startOnTerminal(env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-terminal-'));
  cleanUps.push(() => rmSync(folder, { recursive: true }));
  const port = await freePort();
  // `exec`: a shell that stays as the parent, as dash does, would end with 130 on Ctrl-C whatever its child says.
  const command = `exec ${process.execPath} ${join(import.meta.dirname, 'start.ts')}`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: {
      ...process.env,
      PORT: String(port),
      METRICS_PORT: 'off',
      S3_PORT: '0',
      GIT_SSH_PORT: '0',
      LOCAL_CLOUD: 'off',
      STAGI_DATA: folder,
      STAGI_WEB_DIR: folder,
      STAGI_DAEMON_DIR: folder,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  cleanUps.push(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return {
    folder,
    port,
    terminal: {
      text: () => text,
      /** What stands on the screen in the end: what was written over is gone. */
      lines: () => text.split(/\r*\n/).map((line) => stripVTControlCharacters(line.split('\r').at(-1) ?? '')),
      type: (keys: string) => child.stdin.write(keys),
      end: async () => ((await closed) as [number | null])[0],
    },
  };
}

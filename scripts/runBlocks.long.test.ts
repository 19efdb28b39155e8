import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadContent } from '@stagi/content/content.ts';
import { type PageToRun, pagesToRun } from '@stagi/content/runBlocks.ts';
import { api } from '@stagi/contract/api.ts';
import { EDIT_FEATURE, IMAGES_FEATURE, TASKS_FEATURE } from '@stagi/contract/daemon.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../packages/server/src/testing/app.ts';
import { builtDaemonEnv } from '../packages/server/src/testing/cloudApp.ts';
import { connectDaemon, enrolNode } from '../packages/server/src/testing/daemon.ts';
import { anApiToken } from '../packages/server/src/testing/factories.ts';
import { ROOT } from './run.ts';

/** The commands of the documentation, run as a reader would paste them: on a real platform, one shell for each page. */

/** Of the agent on the server, which here answers no streams: no logs, files or terminals. */
const FEATURES = [TASKS_FEATURE, EDIT_FEATURE, IMAGES_FEATURE];

/** A block takes a second or two, on a machine that has much else to do ten times that. */
const BLOCK_MS = 60_000;
const MARK = '@@ block ';

const pages = pagesToRun(loadContent(join(ROOT, 'content')));
let app: TestApp;

let agent: string;

beforeAll(async () => {
  agent = mkdtempSync(join(tmpdir(), 'stagi-agent-'));
  app = await startTestApp(builtDaemonEnv(agent));
});
afterAll(async () => {
  await app?.close();
  rmSync(agent, { recursive: true, force: true });
});

it('there are commands to run', () => {
  const blocks = pages.reduce((sum, page) => sum + page.blocks.length, 0);
  console.log(`run blocks: n = ${blocks} blocks on ${pages.length} pages`);
  expect(blocks).toBeGreaterThan(0);
});

it.for(pages.map((page) => [page.file, page] as const))('%s', async ([, page]) => {
  const reader = await newReader();
  const folder = mkdtempSync(join(tmpdir(), 'stagi-blocks-'));
  try {
    const { failed, output } = await runPage(page, { STAGI_URL: app.url, STAGI_TOKEN: reader.token }, folder);
    if (failed) expect.fail(`${page.file}:${failed.line} ${failed.how}\n\n${failed.code}\n\nIt wrote:\n${output}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await reader.leave();
  }
});

/** Somebody with an API token and a server "Lab" that is online. */
async function newReader(): Promise<{ token: string; leave(): Promise<void> }> {
  const person = await app.signUp();
  const { daemonToken } = await person.client(api.selfHosted.create, { title: 'Lab', slug: 'lab' });
  const key = await enrolNode(app.url, daemonToken);
  const daemon = await connectDaemon(app.url, key, { facts: { hostname: 'lab' }, features: FEATURES });
  const { token } = await anApiToken(app.ctx, person);
  return { token, leave: () => daemon.close() };
}

interface Failed {
  line: number;
  code: string;
  how: string;
}

/** Runs the blocks one after the other. `output` is what the last one wrote. */
async function runPage(
  { blocks }: PageToRun,
  variables: Record<string, string>,
  folder: string,
): Promise<{ failed: Failed | null; output: string }> {
  const [home, work] = [join(folder, 'home'), join(folder, 'work')];
  mkdirSync(home);
  mkdirSync(work);
  const script = blocks.map(({ code }, index) => `echo '${MARK}${index}'\n${code}`).join('\n');
  const shell = spawn('bash', ['--noprofile', '--norc', '-c', `exec 2>&1\nset -euo pipefail\n${script}`], {
    cwd: work,
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: home,
      LANG: 'C.UTF-8',
      GIT_TERMINAL_PROMPT: '0',
      ...variables,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  let output = '';
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    // With what it started.
    if (shell.pid) process.kill(-shell.pid, 'SIGKILL');
  }, BLOCK_MS);
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (text.includes(MARK)) late.refresh();
  });
  const [code, signal] = (await once(shell, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(late);
  const [last = '', ...rest] = (output.split(MARK).at(-1) ?? '').split('\n');
  const block = blocks[Number(last)];
  if (code === 0 && Number(last) === blocks.length - 1) return { failed: null, output: rest.join('\n') };
  const how = isLate ? `did not end within ${BLOCK_MS / 1000} s` : `ended with ${code ?? signal}`;
  return {
    failed: { line: block?.line ?? 0, code: block?.code ?? script, how },
    output: rest.join('\n').slice(-4_000),
  };
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium, type Page, type Request } from '@playwright/test';
import { api, everyCall } from '@stagi/contract/api.ts';
import { API_PREFIX, type Call } from '@stagi/contract/call.ts';
import { spawnFakeCloud } from '@stagi/server/src/providers/fake/control.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { partOf, type Recorded } from '@stagi/web/src/demo/recorded.ts';
import { CHROMIUM } from '../../scripts/chromium.ts';
import { withOwnDatabase } from '../inProcessApp.ts';
import { followLink } from '../navigation.ts';
import { enter } from '../people.ts';
import { until } from '../waitUntil.ts';
import { questionsOfCode } from './code.ts';
import { dressed, withMoreOffers } from './dress.ts';
import { furnish } from './furnish.ts';
import { giveAPast } from './past.ts';
import { runTasks } from './tasks.ts';
import { walkOf } from './walk.ts';

const FOLDER = join(import.meta.dirname, '../../packages/web/src/demo/recording');
/** What a page does beside reading. */
const NOT_KEPT = ['stream-ticket', 'analytics/event', 'getting-started/edit', 'auth/exchange-refresh-token'];
const LONGEST_LOG = 400;
/** What is asked once somebody opens a dialog or a choice. */
const OF_DIALOGS: readonly Question[] = [
  [api.clients.roles.path, {}],
  [api.registries.list.path, {}],
  [api.identities.list.path, {}],
  [api.audit.listActors.path, { entityFilterRequest: {} }],
];
/** Longer than a page takes to ask the next thing. */
const QUIET_MS = 800;
let quiet = { since: 0 };

type Question = readonly [path: string, input: object];

// Makes the workspace of the demo on a platform of its own, walks its pages in a browser, and writes down what they were answered.
const folder = mkdtempSync(join(tmpdir(), 'stagi-demo-'));
const daemons = join(folder, 'daemon');
mkdirSync(daemons);
writeFileSync(join(daemons, 'stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
const cloud = await spawnFakeCloud({ statePath: join(folder, 'cloud.json') });
const { app, stop } = await withOwnDatabase(() =>
  startTestApp({ FAKE_CLOUD_URL: cloud.url, METERING_SECONDS: '86400', STAGI_DAEMON_DIR: daemons }),
);
const browser = await chromium.launch(CHROMIUM);
try {
  const made = await furnish(app);
  const tasks = await runTasks(made);
  await giveAPast(app, made, tasks);
  const page = await (await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC' })).newPage();
  quiet = quietOf(page);
  const asked = questionsOf(page);
  await enter(page, app.ctx.config.appOrigin, made.maya, '/cloud/instances');
  await page.getByRole('heading', { level: 1 }).waitFor({ timeout: 60_000 });
  for (const path of walkOf(made, tasks)) await visit(page, path);
  for (const path of await modelPages(page)) await visit(page, path);
  asked.push(...(await questionsOfCode(made)), ...OF_DIALOGS);
  write(await answersTo(made.maya, asked));
  for (const machine of Object.values(made.machines)) await machine.close();
} finally {
  await browser.close();
  await stop();
  await cloud.kill();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

/** Notes each question that the page asks. */
function questionsOf(page: Page): Question[] {
  const asked: Question[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    const path = pathname.slice(API_PREFIX.length);
    if (pathname.startsWith(API_PREFIX) && !NOT_KEPT.includes(path))
      asked.push([path, request.postDataJSON() as object]);
  });
  return asked;
}

/** Goes on within the app, until nothing has been asked for a while. */
async function visit(page: Page, path: string): Promise<void> {
  await followLink(page, path);
  quiet.since = Math.max(quiet.since, Date.now());
  await until(`${path} stands`, 30_000, async () => (await page.locator('main h1').count()) > 0);
  await until(
    `${path} waits for nothing`,
    30_000,
    async () => (await page.locator('[aria-busy="true"]').count()) === 0,
  );
  await until(`${path} asks no more`, 30_000, async () => Date.now() - quiet.since > QUIET_MS);
}

/** Since when the page waits for no answer; never while it does. */
function quietOf(page: Page): { since: number } {
  const state = { since: Date.now() };
  const open = new Set<Request>();
  const ended = (request: Request) => {
    open.delete(request);
    if (open.size === 0) state.since = Date.now();
  };
  page.on('request', (request) => {
    open.add(request);
    state.since = Number.POSITIVE_INFINITY;
  });
  page.on('requestfinished', ended);
  page.on('requestfailed', ended);
  return state;
}

async function modelPages(page: Page): Promise<string[]> {
  await visit(page, '/models');
  const links = page.locator('main a[href^="/models/"]');
  const paths = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
  return [...new Set(paths)].slice(0, 8);
}

/** Asks each question once more: lists whole instead of a page, logs as far back as the demo shows them. */
async function answersTo(maya: Person, questions: readonly Question[]): Promise<Recorded[]> {
  const calls = new Map<string, Call>(everyCall().map((call) => [call.path, call]));
  const found = new Map<string, Recorded>();
  for (const [path, input] of questions) {
    const call = calls.get(path);
    const whole = wholeOf(path, input);
    const key = `${path} ${JSON.stringify(whole, withoutTimes)}`;
    if (!call || found.has(key)) continue;
    const answer = await maya.client(call, whole as never).catch((cause: unknown) => {
      console.warn(`${key} is not kept`, cause instanceof Error ? cause.message : cause);
      return null;
    });
    if (answer === null) continue;
    const offers = path === 'hardware/offer/list' ? withMoreOffers(answer as never) : (answer as object);
    found.set(key, dressed([path, whole, offers]));
  }
  return [...found.values()].toSorted(([a, one], [b, other]) =>
    a === b ? JSON.stringify(one).localeCompare(JSON.stringify(other)) : a.localeCompare(b),
  );
}

function wholeOf(path: string, input: object): object {
  if ('entityFilterRequest' in input)
    return { ...input, entityFilterRequest: { ...(input.entityFilterRequest as object), limit: 100 } };
  return path === 'logging/query' ? { source: (input as { source: object }).source, limit: LONGEST_LOG } : input;
}

/** Two questions about different moments are one: the demo answers for any. */
function withoutTimes(_name: string, value: unknown): unknown {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? '*' : value;
}

/** One answer a line, so that a change of the recording can be read. */
function write(answers: readonly Recorded[]): void {
  const recordedAt = new Date().toISOString();
  for (const part of ['workspace', 'models'] as const) {
    const lines = answers.filter(([path]) => partOf(path) === part).map((answer) => JSON.stringify(answer));
    const text = `{"recordedAt":${JSON.stringify(recordedAt)},"answers":[\n${lines.join(',\n')}\n]}\n`;
    writeFileSync(join(FOLDER, `${part}.json`), text);
    console.log(
      `${part}: ${lines.length} answers, ${(gzipSync(text, { level: 9 }).length / 1000).toFixed(1)} kB gzipped`,
    );
  }
}

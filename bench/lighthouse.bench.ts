/**
 * Lighthouse, with a phone on a slow network, over the public pages, and what a signed-in person sees first: the
 * median of five visits each. Fails when a score is missed. Needs a quiet machine.
 */
import { loadavg } from 'node:os';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { aRentedInstance } from '@stagi/server/src/testing/factories.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import lighthouse from 'lighthouse';
import { buildWeb } from '../scripts/web.ts';
import { openBrowser, signInAs } from './browser.ts';
import { median } from './report.ts';

/** `--only=/sign-in,/docs` looks at these pages. */
const ONLY = process.argv
  .find((arg) => arg.startsWith('--only='))
  ?.slice(7)
  .split(',');
const VISITS = Number(process.argv.find((arg) => arg.startsWith('--n='))?.slice(4) ?? 5);
/**
 * By default Lighthouse makes a fast desktop as slow as a mid-tier phone. `--calibrate` makes this machine so, whatever
 * its speed is: https://github.com/GoogleChrome/lighthouse/blob/main/docs/throttling.md
 */
const CALIBRATES = process.argv.includes('--calibrate');
const DEFAULT_SLOWDOWN = 4;
/** By the least benchmark index. */
const SLOWDOWNS: [index: number, slowdown: number][] = [
  [1_500, DEFAULT_SLOWDOWN],
  [800, 2],
  [0, 1],
];
const SERVERS = 20;

type Goals = Partial<Record<'performance' | 'accessibility' | 'best-practices' | 'seo', number>>;
const PUBLIC: Goals = { performance: 90, accessibility: 100, 'best-practices': 95, seo: 95 };
const PUBLIC_PATHS = [
  '/',
  '/sign-in',
  '/sign-up',
  '/models',
  '/models/llama-3.1-8b-instruct',
  '/docs/concepts/billing',
  '/blog/no-log-line-lost',
];
const FIGURES = [
  'first-contentful-paint',
  'largest-contentful-paint',
  'total-blocking-time',
  'cumulative-layout-shift',
];

await buildWeb();
const postgres = await startTestPostgres();
const app = await startTestApp();
let missed = 0;
let looked = 0;
let slowdown = DEFAULT_SLOWDOWN;
try {
  if (CALIBRATES) slowdown = await calibrated();
  for (const path of PUBLIC_PATHS) await look(path, PUBLIC);
  const ada = await app.signUp('Ada');
  for (let n = 0; n < SERVERS; n += 1) await aRentedInstance(app.ctx, ada);
  for (const path of ['/models', '/cloud/instances']) await look(path, { performance: 80 }, ada);
  if (looked === 0) throw new Error(`None of ${ONLY} is among the pages`);
} finally {
  await app.close();
  await postgres.stop();
}
process.exit(missed > 0 ? 1 : 0);

async function look(path: string, goals: Goals, person?: Person): Promise<void> {
  if (ONLY && !ONLY.includes(path)) return;
  looked += 1;
  const categories = Object.keys(goals) as (keyof Goals)[];
  const scores = new Map<string, number[]>(categories.map((name) => [name, []]));
  const figures = new Map<string, number[]>(FIGURES.map((name) => [name, []]));
  const wrong = new Set<string>();
  const speeds: number[] = [];
  for (let visit = 0; visit < VISITS; visit += 1) {
    const lhr = await visitOnce(path, categories, person);
    speeds.push(lhr.environment.benchmarkIndex);
    for (const name of categories) {
      const category = lhr.categories[name];
      scores.get(name)?.push(Math.round((category?.score ?? 0) * 100));
      if (name === 'performance') continue;
      for (const { id, weight } of category?.auditRefs ?? [])
        if (weight > 0 && lhr.audits[id]?.score !== null && (lhr.audits[id]?.score ?? 0) < 1) wrong.add(id);
    }
    for (const name of FIGURES) figures.get(name)?.push(lhr.audits[name]?.numericValue ?? Number.NaN);
  }

  // Lighthouse's measure of the machine's speed: scores of machines with different ones do not compare.
  console.log(
    `${path}: n = ${VISITS}, load average ${loadavg()[0]?.toFixed(1)}, benchmark index ${median(speeds).toFixed(0)}`,
  );
  for (const name of categories) {
    const each = scores.get(name) ?? [];
    const least = goals[name] ?? 100;
    const ok = each.length > 0 && median(each) >= least;
    if (!ok) missed += 1;
    console.log(`  ${name} ${median(each)} (${each.join(', ')}), goal >= ${least}: ${ok ? 'met' : 'MISSED'}`);
  }
  const line = [...figures].map(([name, each]) => `${name} ${Number(median(each).toFixed(3))}`);
  console.log(`  ${line.join(', ')}${wrong.size > 0 ? `\n  at fault: ${[...wrong].join(', ')}` : ''}`);
}

async function calibrated(): Promise<number> {
  const indexes: number[] = [];
  for (let visit = 0; visit < VISITS; visit += 1)
    indexes.push((await visitOnce('/sign-in', ['seo'], undefined)).environment.benchmarkIndex);
  const index = median(indexes);
  const found = SLOWDOWNS.find(([least]) => index >= least)?.[1] ?? DEFAULT_SLOWDOWN;
  console.log(`calibrated: benchmark index ${index.toFixed(0)} (n = ${VISITS}), slowdown ${found}`);
  return found;
}

/** Each visit has a browser of its own, so that none benefits from the cache of another. */
async function visitOnce(path: string, onlyCategories: string[], person: Person | undefined) {
  const port = await freePort();
  const browser = await openBrowser(port);
  try {
    if (person) await signInAs(person, browser, app.url);
    const result = await lighthouse(app.url + path, {
      port,
      onlyCategories,
      logLevel: 'error',
      throttling: { cpuSlowdownMultiplier: slowdown },
    });
    if (!result) throw new Error(`Lighthouse says nothing of ${path}`);
    const { lhr } = result;
    if (lhr.runtimeError) throw new Error(`${path}: ${lhr.runtimeError.message}`);
    if (new URL(lhr.finalDisplayedUrl).pathname !== path) throw new Error(`${path} led to ${lhr.finalDisplayedUrl}`);
    return lhr;
  } finally {
    await browser.close();
  }
}

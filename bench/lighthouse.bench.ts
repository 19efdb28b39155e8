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

/** `--only=/sign-in` looks at one page. */
const ONLY = process.argv.find((arg) => arg.startsWith('--only='))?.slice(7);
const VISITS = Number(process.argv.find((arg) => arg.startsWith('--n='))?.slice(4) ?? 5);
const SERVERS = 20;

type Goals = Partial<Record<'performance' | 'accessibility' | 'best-practices' | 'seo', number>>;
const PUBLIC: Goals = { performance: 90, accessibility: 100, 'best-practices': 95, seo: 95 };
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
try {
  for (const path of ['/', '/sign-in', '/sign-up', '/models', '/models/llama-3.1-8b-instruct'])
    await look(path, PUBLIC);
  const ada = await app.signUp('Ada');
  for (let n = 0; n < SERVERS; n += 1) await aRentedInstance(app.ctx, ada);
  for (const path of ['/models', '/cloud/instances']) await look(path, { performance: 80 }, ada);
} finally {
  await app.close();
  await postgres.stop();
}
process.exit(missed > 0 ? 1 : 0);

async function look(path: string, goals: Goals, person?: Person): Promise<void> {
  if (ONLY && ONLY !== path) return;
  const categories = Object.keys(goals) as (keyof Goals)[];
  const scores = new Map<string, number[]>(categories.map((name) => [name, []]));
  const figures = new Map<string, number[]>(FIGURES.map((name) => [name, []]));
  const wrong = new Set<string>();
  for (let visit = 0; visit < VISITS; visit += 1) {
    const lhr = await visitOnce(path, categories, person);
    for (const name of categories) {
      const category = lhr.categories[name];
      scores.get(name)?.push(Math.round((category?.score ?? 0) * 100));
      if (name === 'performance') continue;
      for (const { id, weight } of category?.auditRefs ?? [])
        if (weight > 0 && lhr.audits[id]?.score !== null && (lhr.audits[id]?.score ?? 0) < 1) wrong.add(id);
    }
    for (const name of FIGURES) figures.get(name)?.push(lhr.audits[name]?.numericValue ?? Number.NaN);
  }

  console.log(`${path}: n = ${VISITS}, load average ${loadavg()[0]?.toFixed(1)}`);
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

/** Each visit has a browser of its own, so that none benefits from the cache of another. */
async function visitOnce(path: string, onlyCategories: string[], person: Person | undefined) {
  const port = await freePort();
  const browser = await openBrowser(port);
  try {
    if (person) await signInAs(person, browser, app.url);
    const result = await lighthouse(app.url + path, { port, onlyCategories, logLevel: 'error' });
    if (!result) throw new Error(`Lighthouse says nothing of ${path}`);
    const { lhr } = result;
    if (lhr.runtimeError) throw new Error(`${path}: ${lhr.runtimeError.message}`);
    if (new URL(lhr.finalDisplayedUrl).pathname !== path) throw new Error(`${path} led to ${lhr.finalDisplayedUrl}`);
    return lhr;
  } finally {
    await browser.close();
  }
}

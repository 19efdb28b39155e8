import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { heavyPages } from './budget.ts';
import { CALL_LIST, callList } from './callList.ts';
import { importCircles } from './circles.ts';
import { unjudgedExpressions } from './expressions.ts';
import { ROOT, runQuietly, stopSignal } from './run.ts';

export const TYPES = 'types';

type Check = { name: string; problems(): Promise<string> };

const CHECKS: Check[] = [
  { name: 'lock file complete', problems: () => node('scripts/lock.mjs', '--check') },
  { name: TYPES, problems: () => tool('typescript/bin/tsc', '-p', 'tsconfig.json') },
  { name: 'types of the web app', problems: () => tool('typescript/bin/tsc', '-p', 'packages/web') },
  {
    name: 'format and lint',
    problems: () => tool('@biomejs/biome/bin/biome', 'ci', '--colors=off', '--max-diagnostics=10'),
  },
  { name: 'import rules', problems: importRules },
  { name: 'no circles of imports', problems: async () => importCircles().join('\n') },
  { name: 'expressions judged', problems: unknownExpressions },
  { name: 'list of calls up to date', problems: staleCallList },
  { name: 'translations complete', problems: missingTranslations },
  { name: 'first pages light', problems: async () => (await heavyPages()).join('\n') },
];

interface CheckResult {
  name: string;
  seconds: number;
  failed: boolean;
}

/** Runs every check, one line each, with what it found below a failed one. */
export async function runChecks(): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, problems } of CHECKS) {
    if (stopSignal()) break;
    const start = performance.now();
    const found = await problems().catch((error: Error) => error.message);
    const seconds = (performance.now() - start) / 1000;
    console.log(`${found ? '✗' : '✓'} ${name} (${seconds.toFixed(1)} s)`);
    if (found) console.log(found.trimEnd());
    results.push({ name, seconds, failed: Boolean(found) });
  }
  return results;
}

const tool = (path: string, ...args: string[]) => node(join('node_modules', path), ...args);

async function node(...args: string[]) {
  const { code, output } = await runQuietly(process.execPath, args);
  return code === 0 ? '' : output || `exit code ${code}`;
}

function importRules() {
  const folders = ['packages', 'scripts', 'deploy', 'e2e', 'bench', 'faults'];
  const cruise = 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs';
  return node('--import', './scripts/swcTsx.mjs', cruise, '--config', '.dependency-cruiser.cjs', ...folders);
}

async function unknownExpressions() {
  const found = unjudgedExpressions();
  return found.length > 0 ? `${found.join('\n')}\nnpm run gen judges them` : '';
}

async function staleCallList() {
  const file = join(ROOT, CALL_LIST);
  const isFresh = existsSync(file) && readFileSync(file, 'utf8') === callList();
  return isFresh ? '' : `${CALL_LIST} is not what the contract says: npm run gen`;
}

async function missingTranslations() {
  const path = join(ROOT, 'packages/web/src/i18n/check.ts');
  const check = (await import(path)) as Record<'missingTranslations' | 'unusedTranslations', () => string[]>;
  const unused = check.unusedTranslations().map((key) => `no longer used: ${key}`);
  return [...check.missingTranslations(), ...unused].join('\n');
}

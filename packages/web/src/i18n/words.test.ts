import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MOMENTS, STATUS } from '../ui/status.ts';
import { literalsIn } from './literals.ts';
import { serverTexts } from './serverScan.ts';

const SRC = join(import.meta.dirname, '..');
const dictionary = (language: string): Record<string, string> =>
  JSON.parse(readFileSync(join(import.meta.dirname, `${language}.json`), 'utf8'));
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|^i18n\/|^features\/kit\//.test(name))
  .map((name) => ({ name, code: readFileSync(join(SRC, name), 'utf8') }));
const texts = [
  ...new Set([
    ...serverTexts(join(SRC, '../..')),
    ...sources.flatMap(({ code }) => literalsIn(code, /\b(?:t|text)\(/g)),
  ]),
];

/** Nouns of the product that are counted; "1 CPUs" is wrong in every language. Figures of many digits are never 1. */
const COUNTED =
  'CPUs GPUs containers servers tasks objects keys members projects storages instances minutes hours days files models images'.split(
    ' ',
  );
/** Limits that the platform sets itself, all above one. */
const NEVER_ONE =
  /\{\{(?:limit|most|max|length|least|files|paths|days|types)\}\}|It was stopped at its time limit|Its agent has not reported|to start, stop or reboot/;

it('counts with plurals', () => {
  const noun = new RegExp(`\\{\\{(?!count\\b)\\w+\\}\\} (?:\\w+ )?(?:${COUNTED.join('|')})\\b`);
  const found = texts.filter((text) => noun.test(text) && !NEVER_ONE.test(text));
  expect(found).toEqual([]);
  console.log(`texts looked at for counted nouns: n = ${texts.length}`);
});

/**
 * One English word that is a verb on a button and something else elsewhere, with the context that tells them apart. Each
 * pair is another word in Russian and Turkish, which have a form for either.
 */
const PAIRS: [key: string, context: string][] = [
  ['Open', 'action'],
  ['Run', 'action'],
  ['Start', 'beginning'],
  ['Restart', 'policy'],
  ['Cancel', 'action'],
  ['Archive', 'place'],
];

it('has a key for each meaning of a word', () => {
  for (const language of ['ru', 'tr'])
    for (const [key, context] of PAIRS) {
      const words = dictionary(language);
      expect({ language, key, other: words[`${key}_${context}`] }).not.toEqual({ language, key, other: undefined });
      expect({ language, key, other: words[`${key}_${context}`] }).not.toEqual({ language, key, other: words[key] });
    }
  console.log(`words of two meanings: n = ${PAIRS.length} in 2 languages`);
});

/** Where the word of a status stands for that very state, too. */
const SAME_STATE = new Set([
  'Ready',
  'Used up',
  'Running',
  'Done',
  'Failed',
  'Error',
  'Expired',
  'Revoked',
  'Deleted',
  'Closed',
  'Finished',
  'Disabled',
  'Waiting',
  'Rented',
  'Stopped',
  'New',
  'Archived',
  'Canceled',
  'Pending',
  'Creating',
  'Preparing',
  'Unavailable',
  'Online',
  'Offline',
  'Enabled',
  'In progress',
  'Deleting',
]);

it('takes no word of a status for an act', () => {
  const words = Object.values(STATUS).map(({ word }) => word);
  const elsewhere = sources
    .filter(({ name }) => name !== 'ui/status.ts')
    .flatMap(({ code }) => [...code.matchAll(/\bt\('([^']+)'\)/g)].map(([, key]) => key!));
  expect(words.filter((word) => !SAME_STATE.has(word) && elsewhere.includes(word))).toEqual([]);
  console.log(`words of statuses: n = ${words.length}`);
});

it('says since when of what came to pass at a moment, for how long of what lasts', () => {
  for (const status of MOMENTS) expect(STATUS[status], status).toBeDefined();
  for (const lasting of ['running', 'stopped', 'online', 'offline', 'unresponsive', 'in queue', 'not answering'])
    expect(MOMENTS.has(lasting), lasting).toBe(false);
  for (const moment of ['done', 'canceled', 'failed', 'rented', 'terminated', 'deleted', 'exited', 'archived'])
    expect(MOMENTS.has(moment), moment).toBe(true);
});

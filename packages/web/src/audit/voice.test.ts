import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROJECT_ACTIVITIES, SERVER_ACTIVITIES } from './activityWords.ts';
import { ACTIONS } from './auditWords.ts';

const words = (language: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(`../i18n/${language}.json`, import.meta.url), 'utf8'));
const [ru, tr, cn] = [words('ru'), words('tr'), words('cn')];

const ENDS_LIKE_PAST = /ed$/;
const IRREGULAR = 'Began Chose Gave Had Hid Left Made Ran Took Wrote'.split(' ');
/** Short participles: `создан`, `удалены`, `закрыто`. */
const RUSSIAN_PARTICIPLE = /(?:^|\s)\S+[нт][аоы]?(?=\s|$)/i;
const TURKISH_PASSIVE = /(?:[ıiuü]ld[ıiuü]|nd[ıiuü])$/;

it('the audit log says in each entry what somebody did', () => {
  const entries = [...new Set(Object.values(ACTIONS))];
  const wrong = entries.filter((entry) => {
    const [first = ''] = entry.split(' ');
    return !ENDS_LIKE_PAST.test(first) && !IRREGULAR.includes(first);
  });
  const wrongThere = entries.filter(
    (entry) =>
      !RUSSIAN_PARTICIPLE.test(ru![entry]!) || !TURKISH_PASSIVE.test(tr![entry]!) || !cn![entry]!.includes('了'),
  );
  expect({ wrong, wrongThere }).toEqual({ wrong: [], wrongThere: [] });
  console.log(`entries of the audit log: n = ${entries.length} in 4 languages`);
});

it('lists of activities say in each entry what was done', () => {
  const entries = [...Object.values(SERVER_ACTIVITIES), ...Object.values(PROJECT_ACTIVITIES), 'Status changed'];
  const there = (of: Record<string, string>, entry: string) => of[entry] ?? of[`${entry}: {{change}}`] ?? '';
  const wrong = entries.filter((entry) => !/^[A-Z].* \w+ed$/.test(entry));
  const wrongThere = entries.filter(
    (entry) =>
      !/^[А-ЯS].*[нт][аоы]?(?:: .*)?$/.test(there(ru!, entry)) ||
      !/(?:d[ıiuü]|t[ıi])(?:: .*)?$/.test(there(tr!, entry)) ||
      !there(cn!, entry).includes('已'),
  );
  expect({ wrong, wrongThere }).toEqual({ wrong: [], wrongThere: [] });
  console.log(`entries of lists of activities: n = ${entries.length} in 4 languages`);
});

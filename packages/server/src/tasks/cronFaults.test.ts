import { cronFault } from '@stagi/contract/cronRules.ts';
import { newSeed, seeded } from '@stagi/contract/testing/random.ts';
import { Cron } from 'croner';
import { expect, it } from 'vitest';
import { requireTimetable } from './cron.ts';

const NOW = new Date('2026-11-30T12:00:00Z');
const FIVE = 'five fields: minute, hour, day of the month, month, day of the week';
const stepOf = (field: string, value: string, max: number) =>
  `${field}: in ${value} the step must be between 1 and ${max}, after * or a range`;
const NO_MONTH = 'is no number, range, list, * or name such as JAN';
const NO_DAY = 'is no number, range, list, * or name such as MON';

/** Null: it is accepted. */
const TABLE: [cron: string, told: string | null][] = [
  ['60 * * * *', 'Minute: 60 is not between 0 and 59'],
  ['* 24 * * *', 'Hour: 24 is not between 0 and 23'],
  ['0 0 0 * *', 'Day of the month: 0 is not between 1 and 31'],
  ['0 0 32 * *', 'Day of the month: 32 is not between 1 and 31'],
  ['0 0 1 13 *', 'Month: 13 is not between 1 and 12'],
  ['0 0 * * 8', 'Day of the week: 8 is not between 0 and 7'],
  ['0-75 * * * *', 'Minute: 75 is not between 0 and 59'],
  ['0,15,99 * * * *', 'Minute: 99 is not between 0 and 59'],
  ['*/0 * * * *', stepOf('Minute', '*/0', 60)],
  ['*/90 * * * *', stepOf('Minute', '*/90', 60)],
  ['0/10 * * * *', stepOf('Minute', '0/10', 60)],
  ['0 */x * * *', stepOf('Hour', '*/X', 24)],
  ['5-1 * * * *', 'Minute: 5-1 begins after its end'],
  ['0 0 * * FRI-MON', 'Day of the week: FRI-MON begins after its end'],
  ['0 30 2 * * *', `6 instead of ${FIVE}`],
  ['* * * *', `4 instead of ${FIVE}`],
  ['every day', `2 instead of ${FIVE}`],
  ['', `Enter ${FIVE}`],
  ['@yearly', '@yearly is not supported: enter five fields, such as 0 0 1 1 *'],
  ['@Daily', '@Daily is not supported: enter five fields, such as 0 0 * * *'],
  ['@reboot', '@reboot is not supported: enter five fields, such as 0 2 * * *'],
  ['a b c d e', 'Minute: “A” is no number, range, list or *'],
  ['1, * * * *', 'Minute: “1,” is no number, range, list or *'],
  ['-5 * * * *', 'Minute: “-5” is no number, range, list or *'],
  ['L * * * *', 'Minute: “L” is no number, range, list or *'],
  ['0 0 * MON *', `Month: “MON” ${NO_MONTH}`],
  ['0 0 * * JAN', `Day of the week: “JAN” ${NO_DAY}`],
  ['0 0 * * L', `Day of the week: “L” ${NO_DAY}`],
  ['0 0 * * MONDAY', `Day of the week: “MONDAY” ${NO_DAY}`],
  ['0:30 0 * * *', 'Minute: “0:30” is no number, range, list or *'],
  ['0 0 30 2 *', 'This time never comes'],
  ['0 0 31 2,4,6 *', 'This time never comes'],
  ['0 0 L * *', null],
  ['0 0 15W * *', null],
  ['0 0 * * 5L', null],
  ['0 0 * * MON#1', null],
  ['? ? ? ? ?', null],
  ['0 9 * JAN-MAR mon-fri', null],
  ['0 0 29 2 *', null],
  ['*/15 9-17 * * 1-5', null],
  ['0  2\t* * 7', null],
  ['1-10/2,30 */6 1,15 * *', null],
];

it('says which field of a cron expression is wrong, and why', () => {
  const told = (cron: string): string | null => {
    try {
      requireTimetable({ cron, timeZone: 'UTC' }, NOW);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const [cron, expected] of TABLE) expect({ cron, told: told(cron) }).toEqual({ cron, told: expected });
  console.log(`cron expressions: n = ${TABLE.length}`);
});

it('reads what the clock of schedules reads, and nothing else', () => {
  const seed = newSeed();
  const random = seeded(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const PIECES = [
    '*',
    '?',
    '0',
    '1',
    '7',
    '12',
    '31',
    '60',
    '5-9',
    '9-5',
    'MON',
    'JAN',
    'L',
    '5L',
    '15W',
    '1#2',
    '',
    '08',
    '+1',
  ];
  const piece = (): string => pick(PIECES) + pick(['', '', '', '', '/2', '/0', '/31', '/x', '-3', ',4']);
  let accepted = 0;
  const SAMPLES = 20_000;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const fields = ['*', '*', '*', '*', '*'];
    fields[Math.floor(random() * 5)] = piece();
    const cron = fields.join(' ');
    let isRead = true;
    try {
      new Cron(cron, { mode: '5-part', timezone: 'UTC', paused: true });
    } catch {
      isRead = false;
    }
    if (isRead) accepted += 1;
    if (fields.every((field) => field !== ''))
      expect({ cron, seed, isRead: cronFault(cron) === null }).toEqual({ cron, seed, isRead });
  }
  console.log(`cron expressions at random: n = ${SAMPLES}, ${accepted} read, seed ${seed}`);
});

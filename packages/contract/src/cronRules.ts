import { text } from './text.ts';

/** The flaw of a cron expression: a text and its values. */
export interface CronFault {
  template: string;
  values: Record<string, string | number>;
}

interface Field {
  min: number;
  max: number;
  /** The greatest step that reaches a second value or wraps once. */
  maxStep: number;
  names?: readonly string[];
  /** Values of their own: the last day, and the working day nearest to one. */
  special?: RegExp;
  /** May follow a value: the last, or the numbered one of a month. */
  suffix?: RegExp;
  outside: string;
  backwards: string;
  step: string;
  unreadable: string;
}

const MONTHS = 'JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC'.split(',');
const DAYS = 'SUN,MON,TUE,WED,THU,FRI,SAT'.split(',');

const FIELDS: readonly Field[] = [
  {
    min: 0,
    max: 59,
    maxStep: 60,
    outside: text('Minute: {{value}} is not between {{min}} and {{max}}'),
    backwards: text('Minute: {{value}} begins after its end'),
    step: text('Minute: in {{value}} the step must be between 1 and {{max}}, after * or a range'),
    unreadable: text('Minute: “{{value}}” is no number, range, list or *'),
  },
  {
    min: 0,
    max: 23,
    maxStep: 24,
    outside: text('Hour: {{value}} is not between {{min}} and {{max}}'),
    backwards: text('Hour: {{value}} begins after its end'),
    step: text('Hour: in {{value}} the step must be between 1 and {{max}}, after * or a range'),
    unreadable: text('Hour: “{{value}}” is no number, range, list or *'),
  },
  {
    min: 1,
    max: 31,
    maxStep: 31,
    special: /^(?:L|LW|(?:[1-9]|[12]\d|3[01])W)$/,
    outside: text('Day of the month: {{value}} is not between {{min}} and {{max}}'),
    backwards: text('Day of the month: {{value}} begins after its end'),
    step: text('Day of the month: in {{value}} the step must be between 1 and {{max}}, after * or a range'),
    unreadable: text('Day of the month: “{{value}}” is no number, range, list, * or L for the last day'),
  },
  {
    min: 1,
    max: 12,
    maxStep: 12,
    names: MONTHS,
    outside: text('Month: {{value}} is not between {{min}} and {{max}}'),
    backwards: text('Month: {{value}} begins after its end'),
    step: text('Month: in {{value}} the step must be between 1 and {{max}}, after * or a range'),
    unreadable: text('Month: “{{value}}” is no number, range, list, * or name such as JAN'),
  },
  {
    min: 0,
    max: 7,
    maxStep: 7,
    names: DAYS,
    suffix: /(?:L|#[1-5L])$/,
    outside: text('Day of the week: {{value}} is not between {{min}} and {{max}}'),
    backwards: text('Day of the week: {{value}} begins after its end'),
    step: text('Day of the week: in {{value}} the step must be between 1 and {{max}}, after * or a range'),
    unreadable: text('Day of the week: “{{value}}” is no number, range, list, * or name such as MON'),
  },
];

const NOT_FIVE = text('Enter five fields: minute, hour, day of the month, month, day of the week');
const COUNTED = text('{{found}} instead of five fields: minute, hour, day of the month, month, day of the week');
const MACRO = text('{{value}} is not supported: enter five fields, such as {{example}}');
const MACROS: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Says which of the five fields cannot be read, and why; null: all can. A time that never comes is not looked for. */
export function cronFault(cron: string): CronFault | null {
  const trimmed = cron.trim();
  if (trimmed.startsWith('@')) {
    const example = MACROS[trimmed.toLowerCase()] ?? '0 2 * * *';
    return { template: MACRO, values: { value: cut(trimmed), example } };
  }
  const fields = trimmed.split(/\s+/);
  if (trimmed === '') return { template: NOT_FIVE, values: {} };
  if (fields.length !== FIELDS.length) return { template: COUNTED, values: { found: fields.length } };
  for (const [index, field] of FIELDS.entries()) {
    const fault = faultOfField(field, fields[index]!);
    if (fault) return fault;
  }
  return null;
}

function faultOfField(field: Field, written: string): CronFault | null {
  // A leading + asks for both days, of the month and of the week.
  const list = field.suffix ? written.replace(/^\+/, '') : written;
  for (const part of list.toUpperCase().split(',')) {
    const fault = faultOfPart(field, part, written);
    if (fault) return fault;
  }
  return null;
}

function faultOfPart(field: Field, part: string, written: string): CronFault | null {
  const { min, max, maxStep } = field;
  const value = cut(part === '' ? written : part);
  const unreadable = { template: field.unreadable, values: { value } };
  if (part === '?' || field.special?.test(part)) return null;
  const plain = field.suffix ? part.replace(field.suffix, '') : part;
  const [range = '', step, ...more] = plain.split('/');
  if (more.length > 0) return unreadable;
  const [first = '', last, ...others] = range.split('-');
  if (others.length > 0) return unreadable;
  const from = range === '*' || range === '?' ? min : numberOf(field, first);
  const to = last === undefined ? from : numberOf(field, last);
  // In `/5` the step is wrong, not the number that is missing before it.
  if (step === undefined || range !== '') {
    if (from === null || to === null) return unreadable;
    for (const number of [from, to])
      if (number < min || number > max) return { template: field.outside, values: { value: number, min, max } };
    if (from > to) return { template: field.backwards, values: { value: cut(range) } };
  }
  if (step === undefined) return null;
  const isRange = range === '*' || range === '?' || last !== undefined;
  const isStep = /^\d{1,3}$/.test(step) && Number(step) >= 1 && Number(step) <= maxStep;
  return isRange && isStep ? null : { template: field.step, values: { value, max: maxStep } };
}

/** Null: no number and no name of the field. */
function numberOf({ names, min }: Field, written: string): number | null {
  const named = names?.indexOf(written) ?? -1;
  if (named >= 0) return named + min;
  return /^\d{1,9}$/.test(written) ? Number(written) : null;
}

const cut = (value: string): string => (value.length > 20 ? `${value.slice(0, 20)}…` : value);

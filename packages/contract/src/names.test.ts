import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { everyCall } from './api.ts';
import { isPlainLine, isVisible, plainLine } from './plainText.ts';

/** Fields of this name hold what a person calls a thing, and others see. */
const NAMES =
  /^(?:title|name|newName|label|displayName|subject|company|username|description|nickname|alias|gpu|quality|publisher|licence)$/;

/** Fields that are called so and hold no name. */
const OTHERS: Record<string, string> = {
  'docker-container/create env.name': 'an environment variable: its pattern refuses all but letters, digits and _',
  'docker-container/edit env.name': 'an environment variable',
  'task/create env.name': 'an environment variable',
  'task/schedule/create env.name': 'an environment variable',
  'task/schedule/edit task.env.name': 'an environment variable',
  'docker-container/template/create description': 'a text of several lines, from which what hides is taken out',
  'project/create description': 'a text of several lines',
  'project/edit description': 'a text of several lines',
  'user-feedback/send/default description': 'a text of several lines',
  'model/list filters.gpu': 'the id of a GPU, looked up and not kept',
  'model/view name': 'looked up and not kept',
  'model/fit modelRef.name': 'looked up and not kept',
  'model/deploy modelRef.name': 'looked up and not kept',
  'model/endpoint/list modelRef.name': 'looked up and not kept',
};

const HOSTILE: Record<string, string> = {
  'a line break': 'one\ntwo',
  'a carriage return': 'one\r\nBcc: all@example.com',
  'a separator of lines': 'one\u2028two',
  'a separator of paragraphs': 'one\u2029two',
  NUL: 'one\0two',
  'an escape sequence': 'one\u001b[31mtwo',
  'a control of ISO 8859': 'one\u0085two',
  'an override of direction': 'invoice\u202egnp.exe',
  'an isolate of direction': 'one\u2067two\u2069',
  'a mark of direction': 'Alice\u200e',
  'a mark of Arabic direction': 'Alice\u061c.',
  'half of a pair': 'one\ud83dtwo',
  'the other half': '\udc00one',
  'no character': 'one\uffff',
  'spaces without width': '\u200b\u200b',
  'joiners alone': '\u200d\u200c\u2060',
  'the filler of Hangul': '\u3164',
  'fillers of Jamo': '\u115f\u1160',
  'a narrow filler': '\uffa0 \uffa0',
  'the blank of Braille': '\u2800\u2800',
  'selectors of variants': '\ufe0f\u{e0100}',
  tags: '\u{e0041}\u{e0042}',
  'soft hyphens': '\u00ad\u00ad',
  'marks without a letter': '\u0301\u0301',
  'an object that is not there': '\ufffc',
};

const ORDINARY = [
  'My GPU server (2)',
  'Обучение модели №3',
  '服务器 一号',
  'Işık sunucusu',
  'خادم التدريب ١',
  'می‌خواهم',
  'שרת אימון',
  'प्रशिक्षण क्ष',
  'เซิร์ฟเวอร์',
  '한국어 서버',
  'Zoë O’Brien-Ñandú',
  'e\u0301tude',
  '👨‍👩‍👧‍👦',
  '🏴󠁧󠁢󠁥󠁮󠁧󠁿 London',
  '❤️',
  '#1',
  '-',
];

type Strings = Map<string, z.ZodType>;

/** Every text in an input, by the names of the fields that lead to it. */
function stringsOf(schema: z.ZodType, path: string[], found: Strings, outer: z.ZodType): Strings {
  const { def } = (schema as unknown as { _zod: { def: Record<string, unknown> & { type: string } } })._zod;
  const into = (inner: unknown, at: string[], whole: z.ZodType = inner as z.ZodType): void =>
    void stringsOf(inner as z.ZodType, at, found, whole);
  switch (def.type) {
    case 'object':
      for (const [name, inner] of Object.entries(def.shape as object)) into(inner, [...path, name]);
      break;
    case 'array':
      into(def.element, path);
      break;
    case 'union':
      for (const inner of def.options as unknown[]) into(inner, path);
      break;
    case 'pipe':
      into(def.in, path, outer);
      break;
    case 'intersection':
      into(def.left, path);
      into(def.right, path);
      break;
    case 'string':
      found.set(path.join('.'), outer);
      break;
    default:
      if (def.innerType) into(def.innerType, path);
  }
  return found;
}

const fields = everyCall().flatMap(({ path, input }) =>
  [...stringsOf(input, [], new Map(), input)]
    .filter(([field]) => NAMES.test(field.split('.').at(-1)!))
    .map(([field, schema]) => ({ place: `${path} ${field}`, schema })),
);

describe('a name', () => {
  it('is refused in every call when it hides something or shows nothing', () => {
    const named = fields.filter(({ place }) => !(place in OTHERS));
    let n = 0;
    for (const { place, schema } of named) {
      for (const [what, sample] of Object.entries(HOSTILE)) {
        const refused = schema.safeParse(sample);
        expect.soft(refused.success, `${place}: ${what}`).toBe(false);
        n += 1;
      }
      expect
        .soft(schema.safeParse('one\ntwo').error?.issues[0]?.message, place)
        .toBe('Remove line breaks and invisible characters');
      expect
        .soft(schema.safeParse('\u3164').error?.issues[0]?.message, place)
        .toBe('Enter at least one visible character');
    }
    console.log(`hostile names: n = ${n} in ${named.length} fields`);
    expect(named.length).toBeGreaterThan(30);
  });

  it('is taken as people of all languages write it', () => {
    for (const { place, schema } of fields.filter(({ place: at }) => !(at in OTHERS) && !/username/.test(at)))
      for (const name of ORDINARY) {
        const taken = schema.safeParse(`  ${name} `);
        expect.soft(taken.data, `${place}: ${name}`).toBe(name);
      }
  });

  it('is exempt only where there is such a field', () => {
    const places = fields.map(({ place }) => place);
    expect(Object.keys(OTHERS).filter((place) => !places.includes(place))).toEqual([]);
  });
});

describe('a name that nobody typed', () => {
  it.each([
    ['a commit\r\nof two lines', 'a commit  of two lines'],
    ['invoice\u202egnp.exe', 'invoicegnp.exe'],
    ['\u3164\u200b', ''],
    ['half \ud83d', 'half'],
    ['x'.repeat(101), `${'x'.repeat(99)}…`],
    [`${'x'.repeat(98)}😀😀`, `${'x'.repeat(98)}…`],
    ['\0\u001b[2J\u0085', '[2J'],
    ['\ud800'.repeat(1_000), ''],
  ])('is made one line that can be shown: %j', (name, line) => {
    expect(plainLine(name, 100)).toBe(line);
  });

  it('is one that a person could have typed', () => {
    for (const sample of [...Object.values(HOSTILE), ...ORDINARY]) {
      const line = plainLine(sample, 100);
      expect([isPlainLine(line), line === '' || isVisible(line)], JSON.stringify(sample)).toEqual([true, true]);
    }
    expect(ORDINARY.map((name) => plainLine(name, 100))).toEqual(ORDINARY);
  });
});

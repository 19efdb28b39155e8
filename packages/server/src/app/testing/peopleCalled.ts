import type { Random } from '@stagi/contract/testing/random.ts';

/** What lists of people are searched by: names and addresses of many scripts, with signs that patterns take for theirs. */
export interface Called {
  name: string;
  email: string;
}

const WORDS = [
  'Ada',
  'Grace',
  'Linus',
  'Иван',
  'Петрова',
  '王芳',
  '李',
  'Öykü',
  'Şen',
  'O’Neil',
  '100%',
  'a_b',
  'x\\y',
  'Jo',
  '🙂',
];
const BOXES = ['ada', 'zed', 'k', 'o_o', 'dot.ted'];
const HOSTS = ['example.com', 'example.org', 'mail.ru', 'qq.com'];

/** The `n`th of many. Three each are of the same moment, so that something else has to tell their order. */
export function somebody(random: Random, n: number): Called & { created_at: Date } {
  return {
    name: `${random.pick(WORDS)} ${random.pick(WORDS)}`,
    email: `${random.pick(BOXES)}${n}@${random.pick(HOSTS)}`,
    created_at: new Date(Date.UTC(2026, 0) - Math.floor(n / 3) * 60_000),
  };
}

/** A part of what somebody is called, of another text that they are known by, or of what nobody is called. */
export function searchText(random: Random, { name, email }: Called, ...others: string[]): string {
  const signs = [...random.pick([name, email, random.pick(WORDS), 'zz', 'nobody at all', ...others])];
  const from = Math.floor(random() * signs.length);
  const text = signs
    .slice(from, from + random.between(1, 8))
    .join('')
    .trim();
  return random() < 0.3 ? text.toUpperCase() : text;
}

/** What `http/search.ts` looks for, in the plainest words. */
export function isCalled({ name, email }: Called, text: string): boolean {
  const sought = text.toLowerCase();
  if (/^[^@\s]+@/.test(sought)) return email.startsWith(sought);
  const isLong = /[a-z0-9]{3}/.test(sought) || [...sought].some((sign) => sign.codePointAt(0)! > 127);
  return [name.toLowerCase(), email].some((words) =>
    isLong ? words.includes(sought) : words.startsWith(sought) || words.includes(` ${sought}`),
  );
}

/** As the database sorts: by the bytes of UTF-8. */
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

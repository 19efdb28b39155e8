import type { InputOf, OutputOf } from '@stagi/contract/call.ts';
import type { logging } from '@stagi/contract/logging.ts';

type Log = OutputOf<typeof logging.query>;
type Question = Partial<InputOf<typeof logging.query>>;

/** The lines that are asked for, of a log that was recorded whole. */
export function logAnswer(body: object, input: object): Log {
  const log = body as Log;
  const { text = '', mode = 'contains', from, to, cursor, limit = 500 } = input as Question;
  const matches = matcherOf(text, mode);
  const found = log.lines.filter(
    (line) =>
      matches(line.text) &&
      (from === undefined || Date.parse(line.time) >= Date.parse(from)) &&
      (to === undefined || Date.parse(line.time) <= Date.parse(to)),
  );
  if (cursor && 'after' in cursor)
    return { ...log, lines: found.filter(({ seq }) => seq > cursor.after).slice(0, limit), hasBefore: true };
  const before = cursor ? found.filter(({ seq }) => seq < cursor.before) : found;
  return { ...log, lines: before.slice(-limit), hasBefore: before.length > limit };
}

function matcherOf(text: string, mode: 'contains' | 'regex'): (line: string) => boolean {
  const wanted = text.trim();
  if (mode === 'contains') return (line) => line.toLowerCase().includes(wanted.toLowerCase());
  try {
    const pattern = new RegExp(wanted, 'i');
    return (line) => pattern.test(line);
  } catch (cause) {
    // The platform answers an expression that is none with no lines of its own either.
    console.debug('No regular expression', cause);
    return () => false;
  }
}

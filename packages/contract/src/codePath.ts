/**
 * Names in a repository are bytes, and calls and addresses are text. A name is written as its UTF-8 text, with
 * `\\` for a backslash, `\n`, `\r`, `\t` and `\xHH` for other control characters, and `\xHH` for each byte that is no
 * UTF-8. So each name has one text of its own, and every text leads back to the same bytes.
 */
const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const ENCODER = new TextEncoder();
const LETTERS: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const BYTES_OF_LETTERS: Record<string, number> = { '\\': 0x5c, n: 0x0a, r: 0x0d, t: 0x09 };
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped.
const SPECIAL = /[\x00-\x1f\x7f\\]/g;

/** The text of a name or of a path. */
export function pathText(bytes: Uint8Array): string {
  const whole = decoded(bytes);
  if (whole !== null) return escapePath(whole);
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = characterAt(bytes, at);
    text += length > 0 ? escapePath(STRICT.decode(bytes.subarray(at, at + length))) : hex(bytes[at]!);
    at += Math.max(1, length);
  }
  return text;
}

/** The text of a path that is given as it is, without escapes. */
export const escapePath = (plain: string): string =>
  plain.replace(SPECIAL, (one) => LETTERS[one] ?? hex(one.charCodeAt(0)));

/** The bytes that a text stands for; null: a backslash in it begins no escape. */
export function pathBytes(text: string): Uint8Array | null {
  if (!text.includes('\\')) return ENCODER.encode(text);
  const parts: Uint8Array[] = [];
  let at = 0;
  for (let slash = text.indexOf('\\'); slash >= 0; slash = text.indexOf('\\', at)) {
    parts.push(ENCODER.encode(text.slice(at, slash)));
    const letter = BYTES_OF_LETTERS[text[slash + 1] ?? ''];
    const digits = /^x[0-9A-Fa-f]{2}/.exec(text.slice(slash + 1, slash + 4))?.[0];
    if (letter === undefined && digits === undefined) return null;
    parts.push(Uint8Array.of(letter ?? Number.parseInt(digits!.slice(1), 16)));
    at = slash + 1 + (digits?.length ?? 1);
  }
  parts.push(ENCODER.encode(text.slice(at)));
  return joined(parts);
}

/** As git has it, for people and programs that want no escapes; what is no UTF-8 is U+FFFD. */
export const plainPath = (text: string): string => new TextDecoder().decode(pathBytes(text) ?? ENCODER.encode(text));

function decoded(bytes: Uint8Array): string | null {
  try {
    return STRICT.decode(bytes);
  } catch {
    // Not UTF-8.
    return null;
  }
}

/** The length of the character that begins here; 0: none does. The shortest form alone, and no surrogates. */
function characterAt(bytes: Uint8Array, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1)
    if (decoded(bytes.subarray(at, at + length)) !== null) return length;
  return 0;
}

const hex = (byte: number): string => `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`;

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

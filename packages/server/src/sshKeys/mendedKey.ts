/** Around a text that was copied from a command, a chat or a file of settings. */
const QUOTES = ['"', "'", '`', '“”', '‘’', '«»'] as const;

/**
 * The line that was meant, where nothing else can have been: without a byte order mark and quotes around it, and with a
 * key put together again that a terminal or an editor has wrapped. `isWhole` tells whether this is all of a key.
 */
export function mendedKey(pasted: string, isWhole: (type: string, base64: string) => boolean): string {
  const plain = unquoted(pasted.replace(/^\ufeff/, '').trim());
  const lines = plain
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [first = '', ...rest] = lines;
  const [type = '', ...words] = first.split(/[ \t]+/);
  if (rest.length === 0) return plain;
  // The first line ends within the key, or right after its type.
  if (words.length > 1) return plain;
  let base64 = words[0] ?? '';
  for (const [n, line] of rest.entries()) {
    const [part = '', ...comment] = line.split(/[ \t]+/);
    base64 += part;
    if (!BASE64.test(base64)) return plain;
    if (!isWhole(type, base64)) {
      if (comment.length > 0) return plain;
      continue;
    }
    return n === rest.length - 1 ? [type, base64, ...comment].join(' ') : plain;
  }
  return plain;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function unquoted(text: string): string {
  for (const pair of QUOTES) {
    const [open, close] = [pair[0]!, pair.at(-1)!];
    if (text.length > 1 && text.startsWith(open) && text.endsWith(close)) return text.slice(1, -1).trim();
  }
  return text;
}

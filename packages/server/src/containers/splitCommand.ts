/** A command line that cannot be split. */
export class CommandError extends Error {}

/**
 * Splits one line into arguments as a POSIX shell splits words (XCU 2.2), and does nothing else a shell does: no
 * variables, no globs, no operators. Throws CommandError on a quote that is not closed or a backslash at the end.
 */
export function splitCommand(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let at = 0;
  while (at < line.length) {
    const char = line[at]!;
    at += 1;
    if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === "'") {
      const end = line.indexOf("'", at);
      if (end < 0) throw new CommandError('The command has a single quote that is not closed');
      word = (word ?? '') + line.slice(at, end);
      at = end + 1;
    } else if (char === '"') {
      const quoted = doubleQuoted(line, at);
      word = (word ?? '') + quoted.text;
      at = quoted.end;
    } else if (char === '\\') {
      if (at === line.length) throw new CommandError('The command ends with a backslash');
      // A backslash before a line's end joins the lines.
      if (line[at] !== '\n') word = (word ?? '') + line[at];
      at += 1;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

/** Within double quotes a backslash is special only before $, `, ", \ and a line's end. */
function doubleQuoted(line: string, start: number): { text: string; end: number } {
  let text = '';
  for (let at = start; at < line.length; at += 1) {
    const char = line[at]!;
    if (char === '"') return { text, end: at + 1 };
    const next = line[at + 1];
    if (char === '\\' && next !== undefined && '$`"\\\n'.includes(next)) {
      if (next !== '\n') text += next;
      at += 1;
    } else {
      text += char;
    }
  }
  throw new CommandError('The command has a double quote that is not closed');
}

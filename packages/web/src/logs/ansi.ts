/** The style of a part of a line. Colours of 256 or 16 million are converted to `#rrggbb`. */
export interface TextStyle {
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
  /** 0 … 15, or `#rrggbb`. */
  color?: number | string;
  background?: number | string;
}

export interface StyledRun {
  text: string;
  look: TextStyle;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal sequences start with control characters
const SEQUENCE = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_]|[ -/]+[0-~])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are not shown
const UNSHOWN = /[\x00-\x08\x0a-\x1f\x7f]/g;

/**
 * Splits a printed line into runs of one style each (ECMA-48 SGR). Every other terminal sequence is dropped, and so is
 * what a carriage return would have overwritten.
 */
export function parseAnsi(line: string): StyledRun[] {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  const raw = line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
  if (!raw.includes('\x1b')) return [{ text: raw.replace(UNSHOWN, ''), look: {} }];
  const runs: StyledRun[] = [];
  let look: TextStyle = {};
  let from = 0;
  for (const match of raw.matchAll(SEQUENCE)) {
    push(raw.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === 'm' && /^[\d;:]*$/.test(match[1] ?? '')) look = applySgr(look, match[1] ?? '');
  }
  push(raw.slice(from));
  return runs;

  function push(text: string): void {
    const clean = text.replace(UNSHOWN, '');
    if (clean !== '') runs.push({ text: clean, look });
  }
}

/** The line without terminal sequences. */
export function plainText(line: string): string {
  return parseAnsi(line)
    .map(({ text }) => text)
    .join('');
}

function applySgr(before: TextStyle, parameters: string): TextStyle {
  let look = { ...before };
  const codes = parameters.split(';').map(flat).join(';').split(';').map(Number);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) look = {};
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 3) look.italic = true;
    else if (code === 4) look.underline = true;
    else if (code === 7) look.inverse = true;
    else if (code === 22) look = { ...look, bold: undefined, dim: undefined };
    else if (code === 23) look.italic = undefined;
    else if (code === 24) look.underline = undefined;
    else if (code === 27) look.inverse = undefined;
    else if (code === 39) look.color = undefined;
    else if (code === 49) look.background = undefined;
    else if (code >= 30 && code <= 37) look.color = code - 30;
    else if (code >= 90 && code <= 97) look.color = code - 82;
    else if (code >= 40 && code <= 47) look.background = code - 40;
    else if (code >= 100 && code <= 107) look.background = code - 92;
    else if (code === 38 || code === 48) {
      const { color, used } = extended(codes.slice(at + 1));
      if (code === 38) look.color = color;
      else look.background = color;
      at += used;
    }
  }
  return look;
}

/** Colons group the parts of one code (ITU T.416). Colours are read as if written with semicolons; of others only the code is kept. */
function flat(group: string): string {
  if (!group.includes(':')) return group;
  const [code = '', kind, ...rest] = group.split(':');
  if (code === '4' && kind === '0') return '24';
  if (code !== '38' && code !== '48') return code;
  return [code, kind, ...rest.slice(kind === '2' ? -3 : 0)].join(';');
}

/** `5;n` of the 256 colours of xterm, `2;r;g;b` of all. */
function extended(codes: readonly number[]): { color: number | string | undefined; used: number } {
  const [kind, a = 0, b = 0, c = 0] = codes;
  if (kind === 2) return { color: hex(a, b, c), used: 4 };
  if (kind !== 5) return { color: undefined, used: 0 };
  return { color: a < 16 ? a : xterm(a), used: 2 };
}

function xterm(index: number): string {
  if (index >= 232) return hex(...triple((index - 232) * 10 + 8));
  const cube = index - 16;
  const level = (step: number) => (step === 0 ? 0 : step * 40 + 55);
  return hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

const triple = (value: number): [number, number, number] => [value, value, value];

function hex(...parts: [number, number, number]): string {
  const byte = (part: number) =>
    Math.min(255, Math.max(0, part || 0))
      .toString(16)
      .padStart(2, '0');
  return `#${parts.map(byte).join('')}`;
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Found {
  file: string;
  literal: string;
}

/** Where the packages keep texts that a person may read. */
const CALLS = /\b(?:invalid|refused|conflict|no)\(\s*(LITERAL)/;
const PUBLIC = /new PublicError\(\s*\d+,\s*(LITERAL)/;
const FIELDS = /\b(?:reason|statusReason|detail|message):\s*(LITERAL)/;
const LITERAL = [String.raw`'(?:\\.|[^'\\\n])*'`, String.raw`"[^"\n]*"`, '`[^`]*`'].join('|');

/** Files of the contract whose words are for programmers. */
const NOT_SHOWN = new Set(['openapi.ts', 'client.ts', 'daemon.ts', 'frames.ts', 'money.ts']);

/** The English texts in contract, server and daemon that reach a screen, as they stand in the code. */
export function serverLiterals(packages: string): Found[] {
  const server = [...filesOf(join(packages, 'server/src')), ...filesOf(join(packages, 'daemon/src'))];
  const contract = filesOf(join(packages, 'contract/src')).filter(({ file }) => !NOT_SHOWN.has(file));
  return [
    ...server.flatMap(({ file, code }) => [CALLS, PUBLIC, FIELDS].flatMap((place) => found(file, code, place))),
    ...contract.flatMap(({ file, code }) => found(file, code.replace(SUMMARY, ''), /(LITERAL)/)),
  ].filter(({ literal }) => isSentence(literal));
}

const SUMMARY = new RegExp(`summary:\\s*(?:${LITERAL})`, 'g');

function found(file: string, code: string, place: RegExp): Found[] {
  const pattern = new RegExp(place.source.replace('LITERAL', LITERAL), 'g');
  return [...code.matchAll(pattern)].map((match) => ({
    file,
    literal: (match[1] ?? '').slice(1, -1).replace(/\\'/g, "'"),
  }));
}

/** Begins like a sentence and has more than one word. */
function isSentence(literal: string): boolean {
  return /^\p{Lu}/u.test(literal) && /\S \S/.test(literal);
}

/** A text without the names of its values, so that `{{most}}` and `${most}` are the same place. */
export function shapeOf(text: string): string {
  return text.replace(/\{\{\w+\}\}|\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '{}');
}

function filesOf(folder: string): { file: string; code: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ts$/.test(name) && !/\.test\.ts$|testing\/|providers\/fake|scratch|\.tmp\./.test(name))
    .map((name) => ({ file: name, code: withoutComments(readFileSync(join(folder, name), 'utf8')) }));
}

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

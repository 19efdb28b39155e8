import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { literalsIn } from './literals.ts';

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
const NOT_SHOWN = new Set(['openapi.ts', 'apiClient.ts', 'daemon.ts', 'frames.ts', 'money.ts', 'storageSnippets.ts']);

/** Every text that contract, server and daemon mark with `text('…')`. */
export function serverTexts(packages: string): string[] {
  return sources(packages).flatMap(({ code }) => literalsIn(code, /\btext\(/g));
}

/** Texts that reach a screen and are not marked, as they stand in the code. */
export function unmarkedServerTexts(packages: string): Found[] {
  return sources(packages)
    .flatMap(({ file, code, isContract }) =>
      isContract
        ? NOT_SHOWN.has(file)
          ? []
          : found(file, code.replace(SUMMARY, '').replace(MARKED, ''), /(LITERAL)/)
        : [CALLS, PUBLIC, FIELDS].flatMap((place) => found(file, code, place)),
    )
    .filter(({ literal }) => isSentence(literal));
}

function sources(packages: string) {
  return ['server', 'daemon', 'contract'].flatMap((name) =>
    filesOf(join(packages, name, 'src')).map((one) => ({ ...one, isContract: name === 'contract' })),
  );
}

const SUMMARY = new RegExp(`summary:\\s*(?:${LITERAL})`, 'g');
const MARKED = new RegExp(`\\btext\\(\\s*(?:${LITERAL})`, 'g');

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

function filesOf(folder: string): { file: string; code: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ts$/.test(name) && !/\.test\.ts$|testing\/|providers\/fake\/main|scratch|\.tmp\./.test(name))
    .map((name) => ({ file: name, code: withoutComments(readFileSync(join(folder, name), 'utf8')) }));
}

function withoutComments(code: string): string {
  return code.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { check } from 'recheck';
import { EXCEPTIONS } from './expressionExceptions.ts';
import { ROOT } from './run.ts';

/** Those that `recheck` calls safe, a line each. It takes half a minute for all, so each is judged once. */
export const EXPRESSION_LIST = 'scripts/expressions.gen.txt';

const LIMIT_MS = 60_000;
const TEST = /\.test\.tsx?$|(^|\/)testing\//;

interface Literal {
  source: string;
  flags: string;
}

interface Expression {
  file: string;
  /** As it is written. */
  text: string;
  /** Null: it is put together while the code runs. */
  literal: Literal | null;
}

/**
 * Regular expressions of the product of which nobody knows whether some text holds them up longer than in proportion to
 * its length, a line each: on the one event loop such a text stops everybody. The others are listed, or have a bound
 * that `EXCEPTIONS` names.
 */
export function unjudgedExpressions(): string[] {
  const all = expressions();
  const listed = listedExpressions();
  const texts = new Set(all.map(({ text }) => text));
  const places = new Set(all.map(placeOf));
  return [
    ...all
      .filter((one) => !EXCEPTIONS[placeOf(one)] && !listed.has(one.text))
      .map((one) => `not judged: ${placeOf(one)}`),
    ...[...listed].filter((text) => !texts.has(text)).map((text) => `is no more: ${text}`),
    ...Object.keys(EXCEPTIONS)
      .filter((place) => !places.has(place))
      .map((place) => `is no more: ${place}`),
  ];
}

/** Judges what is not listed yet, or `all`, and writes the list. Throws for what some text holds up. */
export async function writeExpressions({ all }: { all: boolean }): Promise<number> {
  const listed = all ? new Set<string>() : listedExpressions();
  const found = new Map(
    expressions()
      .filter((one) => !EXCEPTIONS[placeOf(one)])
      .map((one) => [one.text, one]),
  );
  const slow: string[] = [];
  // One at a time: how they are judged depends on the time that it takes.
  for (const one of found.values()) {
    const verdict = listed.has(one.text) ? null : await verdictOn(one.literal);
    if (verdict) slow.push(`${placeOf(one)}: ${verdict}`);
  }
  if (slow.length > 0)
    throw new Error(`mend these, or name in expressionExceptions.ts what bounds them:\n${slow.join('\n')}`);
  writeFileSync(join(ROOT, EXPRESSION_LIST), `${[...found.keys()].toSorted().join('\n')}\n`);
  return found.size;
}

const placeOf = ({ file, text }: Expression): string => `${file}: ${text}`;

function listedExpressions(): Set<string> {
  const file = join(ROOT, EXPRESSION_LIST);
  return new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);
}

async function verdictOn(literal: Literal | null): Promise<string | null> {
  if (!literal) return 'put together while the code runs';
  // `d` changes what a match tells, not how it is found.
  const flags = literal.flags.replace('d', '');
  const result = await check(literal.source, flags, { timeout: LIMIT_MS });
  if (result.status === 'safe') return null;
  // A proof counts more than what was found by trying.
  const proof = await check(literal.source, flags, { timeout: LIMIT_MS, checker: 'automaton' });
  if (proof.status === 'safe') return null;
  return result.status === 'unknown'
    ? `not decided (${result.error.kind})`
    : `${result.complexity.summary}, as for ${result.attack.pattern}`;
}

function expressions(): Expression[] {
  const found = readdirSync(join(ROOT, 'packages'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[^/]+\/src\/.*\.tsx?$/.test(path) && !TEST.test(path))
    .flatMap((path) => expressionsOf(`packages/${path}`));
  if (found.length === 0) throw new Error('no expression was found');
  return found;
}

function expressionsOf(file: string): Expression[] {
  const found: Expression[] = [];
  walk(parseSync(readFileSync(join(ROOT, file), 'utf8'), { syntax: 'typescript', tsx: file.endsWith('x') }), (node) => {
    if (node.type === 'RegExpLiteral') {
      const { pattern: source, flags } = node as { pattern: string; flags: string };
      found.push({ file, text: `/${source}/${flags}`, literal: { source, flags } });
    } else if (
      /^(New|Call)Expression$/.test(String(node.type)) &&
      (node.callee as { value?: unknown }).value === 'RegExp'
    )
      found.push({ file, text: 'new RegExp', literal: null });
  });
  return found;
}

function walk(value: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (Array.isArray(value)) for (const each of value) walk(each, visit);
  else if (typeof value === 'object' && value !== null) {
    visit(value as Record<string, unknown>);
    for (const each of Object.values(value)) walk(each, visit);
  }
}

import { createHash } from 'node:crypto';
import { everyCall } from '@stagi/contract/api.ts';
import type { Call } from '@stagi/contract/call.ts';
import { schemaOf } from '@stagi/contract/openapi.ts';

export const CALL_LIST = 'packages/contract/src/calls.gen.txt';

const HASH_LENGTH = 8;

/** A line for each call: path, right, by token, step-up, a hash of its input and answer. */
export const callList = (): string => `${everyCall().map(lineOf).sort().join('\n')}\n`;

function lineOf(call: Call): string {
  const right = typeof call.auth === 'string' ? call.auth : call.auth.join('|');
  const by = call.byToken ? 'token' : call.byApp ? 'app' : '-';
  return [call.path, right, by, call.stepUp ? 'step-up' : '-', hashOf(call)].join(' ');
}

/** Changes when anything changes that a caller sends or gets. */
function hashOf({ input, output, streamed }: Call): string {
  const shapes: Record<string, unknown> = {};
  const all = [schemaOf(input, 'input', shapes), schemaOf(output, 'output', shapes), streamed ?? '', shapes];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex').slice(0, HASH_LENGTH);
}

const COLUMNS = ['right', 'by token', 'step-up', 'input or answer'];

/** In words, a line for each call that was added, removed or changed from one list to another. */
export function changesOfCalls(before: string, after: string): string[] {
  const [old, now] = [parse(before), parse(after)];
  const changes = [...now].map(([path, columns]) => {
    const were = old.get(path);
    if (!were) return `added    ${path}: ${columns.slice(0, -1).join(' ')}`;
    const changed = COLUMNS.flatMap((name, at) => {
      if (were[at] === columns[at]) return [];
      return name === COLUMNS.at(-1) ? [name] : [`${name} ${were[at]} → ${columns[at]}`];
    });
    return changed.length > 0 ? `changed  ${path}: ${changed.join(', ')}` : '';
  });
  const removed = [...old.keys()].filter((path) => !now.has(path)).map((path) => `removed  ${path}`);
  return [...changes.filter(Boolean), ...removed];
}

const parse = (list: string): Map<string, string[]> =>
  new Map(
    list
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [path, ...columns] = line.split(' ') as [string, ...string[]];
        return [path, columns];
      }),
  );

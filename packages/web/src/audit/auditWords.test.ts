import { everyCall } from '@stagi/contract/api.ts';
import { isReadOnly } from '@stagi/contract/audit.ts';
import { expect, it } from 'vitest';
import { ACTIONS, AREAS } from './auditWords.ts';

it('has words for every act that the log may hold', () => {
  const acts = everyCall().filter(({ path, auth }) => auth !== 'public' && auth !== 'signed-in' && !isReadOnly(path));
  console.log(`acts with words: n = ${acts.length}`);
  expect(acts.length).toBeGreaterThan(0);
  for (const { path } of acts) {
    expect.soft(ACTIONS[path], path).toBeDefined();
    expect.soft(AREAS[path.slice(0, path.indexOf('/'))], path).toBeDefined();
  }
});

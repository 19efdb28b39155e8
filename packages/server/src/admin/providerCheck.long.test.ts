import { expect, it } from 'vitest';
import { aCheckedCloud } from './testing/checkedCloud.ts';

const at = aCheckedCloud();
const { check, ended } = at;

it('runs one check of a cloud at a time, however often it is requested', async () => {
  // Keeps the first from ending before the last is requested.
  await at.app.control.fault('list', { kind: 'slow', delayMs: 5_000 });
  const asked = await Promise.all(Array.from({ length: 5 }, check));
  expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
  await ended();
  expect((await check()).id).not.toBe(asked[0]?.id);
  await ended();
});

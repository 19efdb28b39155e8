import { expect, it } from 'vitest';
import { collect } from '../metrics/collect.ts';
import { openGate } from './overload.ts';

it('lets in as many calls at once as it takes, refuses what is beyond, and takes another when one has ended', async () => {
  const gate = openGate(collect(), 3);
  const calls = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const over = calls.map(({ promise }, index) => {
    expect(gate.refusal(), `call ${index + 1}`).toBeNull();
    return gate.pass(() => promise);
  });
  for (const _ of [4, 5]) expect(gate.refusal()).toMatchObject({ status: 503, retryAfter: expect.any(Number) });

  calls[0]?.resolve();
  await over[0];
  expect(gate.refusal()).toBeNull();
  const next = gate.pass(() => Promise.resolve('answered'));
  expect(gate.refusal()).toMatchObject({ status: 503 });
  expect(await next).toBe('answered');

  // However a call ends, its place is free.
  calls[1]?.reject(new Error('it did not work'));
  await expect(over[1]).rejects.toThrow('it did not work');
  const fill = [gate.pass(() => Promise.resolve()), gate.pass(() => Promise.resolve())];
  expect(gate.refusal()).toMatchObject({ status: 503 });
  calls[2]?.resolve();
  await Promise.all([...fill, over[2]]);
  expect(gate.refusal()).toBeNull();
});

import { expect, it } from 'vitest';
import { createPrometheusCollector } from '../metrics/prometheus.ts';
import { createLoadShedder } from './loadShedding.ts';

it('sheds calls above the limit, and accepts another when one has ended', async () => {
  const shedder = createLoadShedder(createPrometheusCollector(), 3);
  const calls = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const over = calls.map(({ promise }, index) => {
    expect(shedder.refusal(), `call ${index + 1}`).toBeNull();
    return shedder.pass(() => promise);
  });
  for (const _ of [4, 5]) expect(shedder.refusal()).toMatchObject({ status: 503, retryAfter: expect.any(Number) });

  calls[0]?.resolve();
  await over[0];
  expect(shedder.refusal()).toBeNull();
  const next = shedder.pass(() => Promise.resolve('answered'));
  expect(shedder.refusal()).toMatchObject({ status: 503 });
  expect(await next).toBe('answered');

  // A call that fails frees its slot too.
  calls[1]?.reject(new Error('it did not work'));
  await expect(over[1]).rejects.toThrow('it did not work');
  const fill = [shedder.pass(() => Promise.resolve()), shedder.pass(() => Promise.resolve())];
  expect(shedder.refusal()).toMatchObject({ status: 503 });
  calls[2]?.resolve();
  await Promise.all([...fill, over[2]]);
  expect(shedder.refusal()).toBeNull();
});

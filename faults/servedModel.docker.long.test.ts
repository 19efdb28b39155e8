import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopDuringAnswer, takeRightsToAnswers } from './endedAnswers.ts';
import { type ServedModelLab, startServedModelLab } from './servedModel.ts';

const ANSWERS_END_WITHIN_MS = 2_000;
const STOPS_WITHIN_MS = 4_000;

let lab: ServedModelLab;
let id: number;
beforeAll(async () => {
  lab = await startServedModelLab();
  ({ id } = await lab.serve());
  await lab.isReady(id);
});
afterAll(() => lab?.close());

it('ends an answer within 2 s of a sign-out, of the removal of its reader, and of the loss of the right to it', async () => {
  const took = await takeRightsToAnswers(lab, id);
  console.log(`served model: answers ended ${took.map((ms) => ms.toFixed(0)).join(', ')} ms after, n = ${took.length}`);
  expect(took.length).toBeGreaterThanOrEqual(3);
  expect(Math.max(...took)).toBeLessThan(ANSWERS_END_WITHIN_MS);
});

it('stops within 4 s while an answer is open', async () => {
  const ms = await stopDuringAnswer(lab, id);
  console.log(`served model: platform stopped in ${ms.toFixed(0)} ms with an open answer, n = 1`);
  expect(ms).toBeLessThan(STOPS_WITHIN_MS);
});

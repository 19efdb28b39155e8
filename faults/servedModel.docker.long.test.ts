import { api } from '@stagi/contract/api.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { ensureTestImage } from '@stagi/daemon/src/testing/image.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopDuringAnswer, takeRightsToAnswers } from './endedAnswers.ts';
import { type ServedModelLab, startServedModelLab } from './servedModel.ts';
import { until } from './until.ts';

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

it('is failed with exit code and last line where its engine ends at once, and ready once it stays', async () => {
  const dockerImage = await ensureTestImage();
  const gated = 'OSError: You are trying to access a gated repo.';
  // The weights come at the fifth try.
  const command = `sh -c 'echo x >> /tmp/tries; [ $(wc -l < /tmp/tries) -ge 5 ] || { echo "${gated}"; exit 1; }; sleep 3600'`;
  const endpoint = await lab.deploy(lab.serverId, { dockerImage, command, cpus: 0.1 });
  const states = new Map<string, ModelEndpoint>();
  const stays = async () => {
    const seen = await lab.view(endpoint.id);
    states.set(seen.status, seen);
    return seen.status === 'loading' && states.has('failed');
  };
  await until('its engine stays', stays, 240_000);
  const failed = states.get('failed')!;
  expect(failed).toMatchObject({ reason: 'Its engine ended with exit code 1 and is started again', deadline: null });
  await until('its last line is there', async () => (await lab.view(endpoint.id)).lastLine === gated);
  expect(await lab.view(endpoint.id)).toMatchObject({ status: 'loading' });
  await lab.owner.client(api.modelEndpoints.delete, { id: endpoint.id });
});

it('stops within 4 s while an answer is open', async () => {
  const ms = await stopDuringAnswer(lab, id);
  console.log(`served model: platform stopped in ${ms.toFixed(0)} ms with an open answer, n = 1`);
  expect(ms).toBeLessThan(STOPS_WITHIN_MS);
});

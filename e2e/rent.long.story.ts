import { expect, test } from './fixtures.ts';
import { rentAndLeave } from './rentAndLeave.ts';

test.use({ cloud: 'on' });
test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

const ONLINE_WITHIN_S = 30;
const LOG_P95_MS = 300;

test('a rented server is soon online, and its lines are soon on the screen', async ({ page, platform }) => {
  const { seconds, logP95Ms } = await rentAndLeave(page, platform);
  expect(seconds).toBeLessThanOrEqual(ONLINE_WITHIN_S);
  expect(logP95Ms).toBeLessThanOrEqual(LOG_P95_MS);
});

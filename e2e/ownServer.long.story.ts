import { expect, test } from './fixtures.ts';
import { joinAndLeave } from './joinAndLeave.ts';

test.use({ cloud: 'on' });
test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

const ONLINE_WITHIN_S = 15;
const UNRESPONSIVE_WITHIN_S = 45;

test('a server of one’s own is soon online, and soon unresponsive once its daemon is dead', async ({
  page,
  platform,
}) => {
  const { onlineSeconds, unresponsiveSeconds } = await joinAndLeave(page, platform);
  expect(onlineSeconds).toBeLessThanOrEqual(ONLINE_WITHIN_S);
  expect(unresponsiveSeconds).toBeLessThanOrEqual(UNRESPONSIVE_WITHIN_S);
});

import { test } from './fixtures.ts';
import { joinAndLeave } from './joinAndLeave.ts';

test.use({ cloud: 'on' });
test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

test('a server of one’s own joins by the shown line, runs a container, and survives its daemon’s death', async ({
  page,
  platform,
}) => {
  await joinAndLeave(page, platform);
});

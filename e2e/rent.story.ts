import { test } from './fixtures.ts';
import { rentAndLeave } from './rentAndLeave.ts';

test.use({ cloud: 'on' });
test.skip(Boolean(process.env.STAGI_NO_DOCKER), process.env.STAGI_NO_DOCKER);

test('rent a server, log in by SSH, run a container, watch its logs, and leave nothing behind', async ({
  page,
  platform,
}) => {
  await rentAndLeave(page, platform);
});

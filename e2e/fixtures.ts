import { test as base, expect } from '@playwright/test';
import { networks } from './machine.ts';
import { type Platform, startPlatform } from './platform.ts';

/** A browser and a running platform; the platform is shared by the stories of one file. */
export const test = base.extend<object, { platform: Platform; cloud: 'off' | 'on' }>({
  cloud: ['off', { option: true, scope: 'worker' }],
  platform: [
    async ({ cloud }, use, worker) => {
      const platform = await startPlatform(`e2e${worker.workerIndex}`, { LOCAL_CLOUD: cloud });
      await use(platform);
      await platform.stop();
      if (cloud === 'on' && !process.env.STAGI_NO_DOCKER) expect(await networks(platform.environment)).toBe('');
    },
    { scope: 'worker', timeout: 120_000 },
  ],
});
export { expect };

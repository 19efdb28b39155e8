import { test as base, expect } from '@playwright/test';
import { EMBEDDED, type Platform, startPlatform } from './platform.ts';
import { networks } from './remoteCommands.ts';

/** A browser and a running platform; the platform is shared by the stories of one file. */
export const test = base.extend<object, { platform: Platform; cloud: 'off' | 'on' }>({
  cloud: ['off', { option: true, scope: 'worker' }],
  platform: [
    async ({ cloud }, use, worker) => {
      // Where machines of this Docker are rented, all is as somebody has it who tries the platform.
      const env = { LOCAL_CLOUD: cloud, ...(cloud === 'on' ? EMBEDDED : {}) };
      const platform = await startPlatform(`e2e${worker.workerIndex}`, env);
      await use(platform);
      await platform.stop();
      if (cloud === 'on' && !process.env.STAGI_NO_DOCKER) expect(await networks(platform.environment)).toBe('');
    },
    { scope: 'worker', timeout: 120_000 },
  ],
});
export { expect };

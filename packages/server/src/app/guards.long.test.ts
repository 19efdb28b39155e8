import { it } from 'vitest';
import { startTestApp } from '../testing/app.ts';
import { aContainer, anSshKey, aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import { sendBrokenBodies } from './testing/brokenBodies.ts';

it('a request of the wrong shape is refused or ignored, whatever the call and its field, and breaks nothing', async () => {
  const app = await startTestApp();
  try {
    const person = await app.signUp();
    await aContainer(app.ctx, person, await aRentedInstance(app.ctx, person));
    await aSelfHostedServer(app.ctx, person);
    await anSshKey(app.ctx, person);
    await sendBrokenBodies(app, person, { oneIn: 1 });
  } finally {
    await app.close();
  }
});

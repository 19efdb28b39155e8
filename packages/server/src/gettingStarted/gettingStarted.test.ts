import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aContainer, anSshKey, aRentedInstance, aSelfHostedServer } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
});
afterAll(() => app?.close());

const steps = async ({ client }: Person) => {
  const { done, containerId } = await client(api.gettingStarted.view, {});
  return { ...done, containerId };
};
const isShown = async ({ client }: Person) => (await client(api.user.profile, {})).userProfile.isGettingStarted;
const NOTHING = { key: false, server: false, container: false, log: false, containerId: null };

describe('the checklist of first steps', () => {
  it('follows what the person and the workspace have done', async () => {
    const person = await app.signUp();
    expect(await steps(person)).toEqual(NOTHING);
    await anSshKey(app.ctx, person);
    expect(await steps(person)).toEqual({ ...NOTHING, key: true });
    const server = await aRentedInstance(app.ctx, person);
    expect(await steps(person)).toEqual({ ...NOTHING, key: true, server: true });
    const containerId = await aContainer(app.ctx, person, server);
    expect(await steps(person)).toMatchObject({ container: true, log: false, containerId });
    await person.client(api.gettingStarted.edit, { logSeen: true });
    expect(await steps(person)).toEqual({ key: true, server: true, container: true, log: true, containerId });
  });

  it('counts a server once it exists: not a failed creation, not an own server that has not joined', async () => {
    const person = await app.signUp();
    await aRentedInstance(app.ctx, person, 'creation failed');
    await aSelfHostedServer(app.ctx, person, 'awaiting setup');
    expect(await steps(person)).toEqual(NOTHING);
    await aRentedInstance(app.ctx, person, 'terminated');
    expect(await steps(person)).toEqual({ ...NOTHING, server: true });
  });

  it('knows nothing of other people and other workspaces', async () => {
    const [person, other] = [await app.signUp(), await app.signUp()];
    await anSshKey(app.ctx, other);
    await aContainer(app.ctx, other, await aRentedInstance(app.ctx, other));
    await other.client(api.gettingStarted.edit, { logSeen: true });
    expect(await steps(person)).toEqual(NOTHING);
  });

  it('is shown until the person closes it, in every browser', async () => {
    const person = await app.signUp();
    expect(await isShown(person)).toBe(true);
    await person.client(api.gettingStarted.edit, { logSeen: true });
    expect(await isShown(person)).toBe(true);
    const { userProfile } = await person.client(api.gettingStarted.edit, { closed: true });
    expect(userProfile.isGettingStarted).toBe(false);
    expect(await isShown(person)).toBe(false);
    // The log that was seen is still known, and closing again changes nothing.
    await person.client(api.gettingStarted.edit, { closed: true });
    expect(await steps(person)).toEqual({ ...NOTHING, log: true });
  });
});

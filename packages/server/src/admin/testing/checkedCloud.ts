import { api } from '@stagi/contract/api.ts';
import type { OperatedProvider, ProviderCheck } from '@stagi/contract/providers.ts';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type CloudApp, startCloudApp } from '../../testing/cloudApp.ts';
import type { Person } from '../../testing/person.ts';

/** A platform with one cloud, which works and is unchecked before each test, and an operator who checks it. */
export function aCheckedCloud() {
  const at = {} as { app: CloudApp; alice: Person; operator: Person };
  beforeAll(async () => {
    at.app = await startCloudApp();
    at.alice = await at.app.signUp();
    at.operator = await at.app.signUp('Olga');
    const { db } = at.app.ctx;
    await db.updateTable('app_user').set({ is_employee: true }).where('id', '=', at.operator.userId).execute();
  });
  afterAll(() => at.app?.close());
  beforeEach(async () => {
    await at.app.control.clearFaults();
    await at.app.ctx.db.deleteFrom('provider_check').execute();
  });

  const cloud = async (): Promise<OperatedProvider> => {
    const { entities } = await at.operator.client(api.providers.list, {});
    const [only] = entities;
    if (!only) return expect.unreachable('there is one cloud');
    return only;
  };
  const check = async (): Promise<ProviderCheck> =>
    (await at.operator.client(api.providers.check, { provider: 'fake' })).entity;
  const ended = async (): Promise<ProviderCheck> => {
    await expect.poll(async () => (await cloud()).check?.endedAt ?? null, { timeout: 60_000 }).not.toBeNull();
    return (await cloud()).check ?? expect.unreachable();
  };
  return Object.assign(at, { cloud, check, ended });
}

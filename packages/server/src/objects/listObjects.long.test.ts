import { it } from 'vitest';
import { startTestApp } from '../testing/app.ts';
import { compareListings } from './testing/compareListings.ts';

it('lists many keys by any prefix, delimiter and page size as computed from all keys', async () => {
  const app = await startTestApp({}, { role: 'api' });
  try {
    const { workspaceId } = await app.signUp();
    await compareListings(app, workspaceId, 6);
  } finally {
    await app.close();
  }
});

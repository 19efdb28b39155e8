import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { revokeKeysOfDeleted } from './delete.ts';

const CHECK_MS = 5_000;

/** Revokes the keys of deleted servers once their daemons have had time to remove our containers. */
export function startSelfHostedWorker(ctx: Context): { stop(): Promise<void> } {
  return repeatEvery(ctx, CHECK_MS, 'revoking keys of deleted servers', () => revokeKeysOfDeleted(ctx));
}

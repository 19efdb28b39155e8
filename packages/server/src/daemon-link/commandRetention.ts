import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { deleteOldCommands } from '../nodes/commands.ts';

const EVERY_MS = 3_600_000;

/** Deletes old commands every hour. */
export function startCommandRetention(ctx: Context): { stop(): Promise<void> } {
  return repeatEvery(ctx, EVERY_MS, 'forgetting old commands', () => deleteOldCommands(ctx.db));
}

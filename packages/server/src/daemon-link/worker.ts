import type { Context } from '../context.ts';
import { every } from '../every.ts';
import { forgetOldCommands } from './commands.ts';

const EVERY_MS = 3_600_000;

/** Links are served where they are connected; what is left to do is forgetting old commands. */
export function startLinkWorker(ctx: Context): { stop(): Promise<void> } {
  return every(ctx, EVERY_MS, 'forgetting old commands', () => forgetOldCommands(ctx.db));
}

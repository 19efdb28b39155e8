import type { Context } from '../context.ts';
import { repeatEvery } from '../loops/repeatEvery.ts';
import { endLeft } from './sessions.ts';

const EVERY_MS = 30_000;

/** Writes down the end of terminals that nobody came back to. */
export function startTerminalWorker(ctx: Context): { stop(): Promise<void> } {
  return repeatEvery(ctx, EVERY_MS, 'ending the records of terminals', () => endLeft(ctx));
}

const PHASES = ['intentStored', 'called', 'applied'] as const;
const EFFECTS = ['start', 'stop', 'resume', 'reboot', 'terminate'] as const;

export type CrashPoint =
  | 'rent.stored'
  | 'action.stored'
  | 'worker.claimed'
  | 'worker.looked'
  | 'worker.applied'
  | 'close.applied'
  | `${(typeof EFFECTS)[number]}.${(typeof PHASES)[number]}`;

/** Every place where a test may end this process, in the order of a server's life. */
export const CRASH_POINTS: readonly CrashPoint[] = [
  'rent.stored',
  'action.stored',
  'worker.claimed',
  'worker.looked',
  ...EFFECTS.flatMap((effect) => PHASES.map((phase) => `${effect}.${phase}` as const)),
  'worker.applied',
  'close.applied',
];

/** Ends this process as `kill -9` would when STAGI_CRASH_POINT names this place; else nothing. */
export function crashPoint(name: CrashPoint): void {
  if (process.env.STAGI_CRASH_POINT === name) process.kill(process.pid, 'SIGKILL');
}

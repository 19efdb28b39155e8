import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';

const CALLS = [
  'instance-rented/rent',
  'instance-rented/start',
  'instance-rented/stop',
  'instance-rented/reboot',
  'instance-rented/terminate',
  'docker-container/create',
  'docker-container/start',
  'docker-container/stop',
  'docker-container/restart',
  'docker-container/delete',
] as const;
const EFFECTS = ['start', 'stop', 'resume', 'reboot', 'terminate'] as const;
const STEPS = ['pull', 'create', 'prepare', 'start', 'pause', 'unpause', 'stop', 'save', 'restart', 'remove'] as const;

/**
 * Every place where a fault run may kill the platform. A call is `stored` before its transaction commits and
 * `committed` before it is answered. For an effect on a cloud the intent is stored, the cloud called, the result applied.
 */
export const PLATFORM_CRASH_POINTS = [
  ...CALLS.flatMap((path) => [`${path}.stored`, `${path}.committed`] as const),
  'enrol.stored',
  'enrol.committed',
  'worker.claimed',
  'worker.looked',
  ...EFFECTS.flatMap((effect) => [`${effect}.intentStored`, `${effect}.called`, `${effect}.applied`] as const),
  'worker.applied',
  'close.applied',
  'sweep.noted',
  'sweep.deleted',
] as const;

/** Every place where a fault run may kill a daemon: before Docker is called, and before the result is recorded. */
export const DAEMON_CRASH_POINTS = [
  'daemon.enrol.keyStored',
  'daemon.enrol.answered',
  ...STEPS.flatMap((step) => [`daemon.${step}.begun`, `daemon.${step}.done`] as const),
  'daemon.start.called',
] as const;

/** Where the run `logbucket` kills the platform: around the intent of a chunk, its object and the result. */
export const LOG_CRASH_POINTS = [
  'logChunk.stored',
  'logChunk.intentStored',
  'logChunk.called',
  'logChunk.applied',
] as const;

/** Every call that is answered passes one of these; fault runs use those of `PLATFORM_CRASH_POINTS`. */
type Committed = `${string}/${string}.committed`;
export type CrashPoint =
  | (typeof PLATFORM_CRASH_POINTS)[number]
  | (typeof DAEMON_CRASH_POINTS)[number]
  | (typeof LOG_CRASH_POINTS)[number]
  | Committed;

/**
 * The armed crash point: a name, or `@file` with a file that holds the name or nothing. The process that dies there
 * empties the file and appends the name to `file.deaths`, so that a run knows that it was reached. Only fault runs set it.
 */
const ARMED = process.env.STAGI_CRASH_POINT || null;

/** Kills this process with SIGKILL when a fault run has armed this crash point; else does nothing. */
export function crashPoint(name: CrashPoint): void {
  if (ARMED === null || armedNow(ARMED) !== name) return;
  if (ARMED.startsWith('@')) {
    appendFileSync(`${ARMED.slice(1)}.deaths`, `${name}\n`);
    writeFileSync(ARMED.slice(1), '');
  }
  process.kill(process.pid, 'SIGKILL');
}

function armedNow(armed: string): string {
  return armed.startsWith('@') ? readFileSync(armed.slice(1), 'utf8').trim() : armed;
}

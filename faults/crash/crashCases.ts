import { type CrashPoint, PLATFORM_CRASH_POINTS } from '@stagi/contract/crashPoints.ts';
import type { FakeFault } from '@stagi/server/src/providers/fake/protocol.ts';
import type { Random } from '../random.ts';
import { OPERATION, RENTED_STEPS, type RentedStep } from './rented.ts';
import { OWN_STEPS, type OwnStep, type ReplyMode } from './selfHosted.ts';

export const OUTCOMES = ['no effect', 'reply lost', 'late'] as const;
export type Outcome = (typeof OUTCOMES)[number];
export const STRAY_STEP = 'sweep';

/** A crash: its crash point, the step of the lifecycle, and the outcome of the step's effect. */
export interface CrashCase {
  point: CrashPoint;
  outcome: Outcome;
  step: `rented ${RentedStep}` | `own ${OwnStep}` | typeof STRAY_STEP;
}

export const ALL_CRASH_CASES: readonly CrashCase[] = PLATFORM_CRASH_POINTS.flatMap((point, index) =>
  OUTCOMES.map((outcome, turn) => ({ point, outcome, step: stepOf(point, index + turn) })),
);

/** A third of all cases; any three seeds in a row cover all of them. */
export const oneThird = (seed: number): CrashCase[] =>
  ALL_CRASH_CASES.filter((_, index) => (Math.floor(index / 3) + index + seed) % 3 === 0);

function stepOf(point: CrashPoint, turn: number): CrashCase['step'] {
  if (point.startsWith('sweep.')) return STRAY_STEP;
  if (point.startsWith('enrol.')) return 'own enrol';
  if (point === 'close.applied') return 'rented terminate';
  // Every step passes these points: each outcome gets another one.
  if (point.startsWith('worker.')) return `rented ${RENTED_STEPS[turn % RENTED_STEPS.length]!}`;
  const [subject] = point.split('.') as [string];
  const own = OWN_STEPS.find((step) => subject === `docker-container/${step}`);
  if (own) return `own ${own}`;
  const rented = RENTED_STEPS.find((step) => subject === `instance-rented/${step}` || subject === OPERATION[step]);
  if (rented) return `rented ${rented}`;
  throw new Error(`no step of a life passes ${point}`);
}

/** Groups cases into lifecycles, with at most one case for each step. */
export function groupIntoLifecycles(
  cells: readonly CrashCase[],
  kind: 'rented' | 'own' | typeof STRAY_STEP,
  random: Random,
): CrashCase[][] {
  const left = random.shuffle(cells.filter(({ step }) => step.startsWith(kind)));
  const lives: CrashCase[][] = [];
  while (left.length > 0) {
    const life: CrashCase[] = [];
    for (const cell of [...left]) {
      if (life.some(({ step }) => step === cell.step)) continue;
      life.push(cell);
      left.splice(left.indexOf(cell), 1);
    }
    lives.push(life);
  }
  return lives;
}

const LAG_MS = 100_000;
/** Crash points after the cloud's answer: the crash itself loses the answer. */
const AFTER_ANSWER = ['.called', '.applied', '.deleted'];

/** The fault of the cloud that causes the outcome; `null` where the crash alone causes it. */
export function cloudFault({ point, outcome }: CrashCase): FakeFault | null {
  switch (outcome) {
    case 'no effect':
      return { kind: 'internal' };
    case 'reply lost':
      return AFTER_ANSWER.some((phase) => point.endsWith(phase)) ? null : { kind: 'effectThenReset' };
    case 'late':
      return { kind: 'visibilityLag', lagMs: LAG_MS };
    default:
      return outcome satisfies never;
  }
}

export const replyModeOf = ({ outcome }: CrashCase): ReplyMode => outcome;

import { type CrashPoint, PLATFORM_CRASH_POINTS } from '@stagi/contract/crashPoints.ts';
import type { FakeFault } from '@stagi/server/src/providers/fake/protocol.ts';
import type { Random } from '../random.ts';
import { type Manner, OWN_STEPS, type OwnStep } from './own.ts';
import { OPERATION, RENTED_STEPS, type RentedStep } from './rented.ts';

export const OUTCOMES = ['no effect', 'reply lost', 'late'] as const;
export type Outcome = (typeof OUTCOMES)[number];
export const STRAY_STEP = 'sweep';

/** One death: where, in which step of a life, and what became of the effect that the step is about. */
export interface Cell {
  point: CrashPoint;
  outcome: Outcome;
  step: `rented ${RentedStep}` | `own ${OwnStep}` | typeof STRAY_STEP;
}

export const EVERY_CELL: readonly Cell[] = PLATFORM_CRASH_POINTS.flatMap((point, index) =>
  OUTCOMES.map((outcome, turn) => ({ point, outcome, step: stepOf(point, index + turn) })),
);

/** A third of all, so that any three seeds in a row are all of them. */
export const aThird = (seed: number): Cell[] =>
  EVERY_CELL.filter((_, index) => (Math.floor(index / 3) + index + seed) % 3 === 0);

function stepOf(point: CrashPoint, turn: number): Cell['step'] {
  if (point.startsWith('sweep.')) return STRAY_STEP;
  if (point.startsWith('enrol.')) return 'own enrol';
  if (point === 'close.applied') return 'rented terminate';
  // Passed in every step: each outcome gets another one.
  if (point.startsWith('worker.')) return `rented ${RENTED_STEPS[turn % RENTED_STEPS.length]!}`;
  const [subject] = point.split('.') as [string];
  const own = OWN_STEPS.find((step) => subject === `docker-container/${step}`);
  if (own) return `own ${own}`;
  const rented = RENTED_STEPS.find((step) => subject === `instance-rented/${step}` || subject === OPERATION[step]);
  if (rented) return `rented ${rented}`;
  throw new Error(`no step of a life passes ${point}`);
}

/** Cells in lives: each life has at most one cell for each of its steps. */
export function livesOf(cells: readonly Cell[], kind: 'rented' | 'own' | typeof STRAY_STEP, random: Random): Cell[][] {
  const left = random.shuffle(cells.filter(({ step }) => step.startsWith(kind)));
  const lives: Cell[][] = [];
  while (left.length > 0) {
    const life: Cell[] = [];
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
/** What is passed only when the cloud's answer came: there the death itself is what loses it. */
const AFTER_ANSWER = ['.called', '.applied', '.deleted'];

/** The fault of the cloud that makes the outcome, or `null` where the death alone makes it. */
export function cloudFault({ point, outcome }: Cell): FakeFault | null {
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

export const mannerOf = ({ outcome }: Cell): Manner => outcome;

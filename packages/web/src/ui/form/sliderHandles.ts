import { SLIDER_BOX_MAX, SLIDER_BOX_MIN } from '../kitConstants.ts';

export interface Scale {
  min: number;
  max: number;
  step: number;
  /** Whether values may have a fraction. */
  float: boolean;
}

/** One number is an upper bound alone; two are the bounds of a range. */
export type SliderValue = number | readonly number[];

/** The handles of a value, in order and on the scale. Throws for an empty array and for more than two. */
export function handlesOf(value: SliderValue, scale: Scale): number[] {
  const handles = typeof value === 'number' ? [value] : [...value];
  if (handles.length === 0) throw new RangeError('Slider: the value is an empty array');
  if (handles.length > 2) throw new RangeError(`Slider: ${handles.length} handles, at most 2`);
  return handles.map((handle) => onScale(handle, scale)).sort((a, b) => a - b);
}

/** The handles after one of them was moved; it stops at its neighbour. Throws where there is no such handle. */
export function moveHandle(handles: readonly number[], index: number, to: number, scale: Scale): number[] {
  if (!Number.isInteger(index) || index < 0 || index >= handles.length) {
    throw new RangeError(`Slider: no handle ${index}, it has ${handles.length}`);
  }
  const low = handles[index - 1] ?? scale.min;
  const high = handles[index + 1] ?? scale.max;
  return handles.toSpliced(index, 1, Math.min(high, Math.max(low, onScale(to, scale))));
}

/** What a box commits for what was typed into it: nothing while it holds no number. */
export function boxNumber(typed: number | string): number | null {
  if (typed === '' || !Number.isFinite(Number(typed))) return null;
  return Math.min(SLIDER_BOX_MAX, Math.max(SLIDER_BOX_MIN, Number(typed)));
}

export function stepOf({ step, float }: Pick<Scale, 'step' | 'float'>): number {
  return float ? step : Math.max(1, Math.round(step));
}

/** Digits behind the point that a step needs. */
export function digitsOf(step: number): number {
  return /\.(\d+)$/.exec(String(step))?.[1]?.length ?? 0;
}

function onScale(value: number, { min, max, float }: Scale): number {
  return Math.min(max, Math.max(min, float ? value : Math.round(value)));
}

const taken = new Map<string, symbol>();

/** Makes an element, by its id, the place of one slider until the answer is called. Throws where there is one already. */
export function claimElement(id: string): () => void {
  if (taken.has(id)) throw new Error(`Slider: there is one on #${id} already`);
  const claim = Symbol(id);
  taken.set(id, claim);
  return () => {
    if (taken.get(id) === claim) taken.delete(id);
  };
}

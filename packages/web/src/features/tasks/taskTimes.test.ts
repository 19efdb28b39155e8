import { expect, it } from 'vitest';
import { runSeconds } from './taskTimes.ts';

it('counts a run from its start to its end', () => {
  expect(runSeconds({ startedAt: '2026-11-26T10:00:00.000Z', finishedAt: '2026-11-26T10:01:30.500Z' })).toBe(90.5);
});

it('has no length for a run that has not started or not ended', () => {
  expect(runSeconds({ startedAt: null, finishedAt: null })).toBeNull();
  expect(runSeconds({ startedAt: '2026-11-26T10:00:00.000Z', finishedAt: null })).toBeNull();
});

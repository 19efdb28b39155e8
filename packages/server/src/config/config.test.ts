import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { readConfig } from './config.ts';

it.each([
  [{ SAMPLE_SECONDS: '0' }, /^SAMPLE_SECONDS must be more than 0/],
  [{ SAMPLE_SECONDS: '-1' }, /^SAMPLE_SECONDS must be a number of at least 0/],
  [{ MARKUP_PERCENT: 'much' }, /^MARKUP_PERCENT must be a number of at least 0/],
])('%j ends the start with the name of the variable', (env, problem) => {
  expect(() => readConfig({ STAGI_DATA: tmpdir(), ...env })).toThrow(problem);
});

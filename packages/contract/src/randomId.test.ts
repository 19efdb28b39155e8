import { afterEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { randomId } from './randomId.ts';

afterEach(() => vi.unstubAllGlobals());

it('makes unique ids where the browser has no randomUUID', () => {
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  expect(crypto.randomUUID).toBeUndefined();
  const ids = Array.from({ length: 1_000 }, randomId);
  for (const id of ids) expect(z.uuidv4().safeParse(id).success, id).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});

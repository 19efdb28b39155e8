import { CallError } from '@stagi/contract/errors.ts';
import { expect, it } from 'vitest';
import { PutError } from './putBytes.ts';
import { mayPass, waitMs } from './retry.ts';

it('waits longer each time, never above 15 seconds', () => {
  expect(waitMs(0, 1)).toBe(500);
  expect(waitMs(3, 1)).toBe(4_000);
  expect(waitMs(20, 1)).toBe(15_000);
  expect(waitMs(0, 0)).toBe(250);
});

it('tries again after what may pass, not after a refusal', () => {
  expect(mayPass(new PutError(0, null))).toBe(true);
  expect(mayPass(new PutError(503, 'SlowDown'))).toBe(true);
  expect(mayPass(new PutError(403, 'AccessDenied'))).toBe(true);
  expect(mayPass(new PutError(403, 'QuotaExceeded'))).toBe(false);
  expect(mayPass(new PutError(404, 'NoSuchUpload'))).toBe(false);
  expect(mayPass(new CallError(503, null, null))).toBe(true);
  expect(mayPass(new CallError(404, null, null))).toBe(false);
  expect(mayPass(new Error('of our own'))).toBe(false);
});

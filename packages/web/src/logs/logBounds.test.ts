import { expect, it } from 'vitest';
import { QUICK_LINKS } from '../ui/dateRange/quickLinks.ts';
import { logBounds } from './logBounds.ts';

const now = new Date('2026-03-10T12:00:00.000Z');
const bounds = (id: string) => logBounds(QUICK_LINKS.find((link) => link.id === id) ?? null, now, 'UTC');

it('goes on live where the range reaches to now or beyond', () => {
  expect(logBounds(null, now, 'UTC')).toEqual({});
  expect(bounds('last-hour')).toEqual({ from: '2026-03-10T11:00:00.000Z' });
  expect(bounds('today')).toEqual({ from: '2026-03-10T00:00:00.000Z' });
  expect(bounds('all-time')).toEqual({});
});

it('ends where the range is over', () => {
  expect(bounds('yesterday')).toEqual({ from: '2026-03-09T00:00:00.000Z', to: '2026-03-09T23:59:59.999Z' });
});

import { describe, expect, it } from 'vitest';
import { boundsOf, draggedRange, PRESETS, rangeAround, rangeFromText, rangeToText } from './metricsRange.ts';

describe('the range of metrics in an address', () => {
  it('is a name or two times, and reads as it was written', () => {
    const times = { from: Date.parse('2026-11-26T20:00:00Z'), to: Date.parse('2026-11-26T21:30:15Z') };
    expect(rangeToText(times)).toBe('2026-11-26T20:00:00Z~2026-11-26T21:30:15Z');
    for (const range of [times, ...Object.keys(PRESETS).map((text) => rangeFromText(text))])
      expect(rangeFromText(rangeToText(range))).toEqual(range);
  });

  it.each([null, '', '2h', '~', 'x~y', '2026-11-26T21:00:00Z~2026-11-26T20:00:00Z', '2026-11-26T21:00:00Z'])(
    'is the last hour for %j',
    (text) => {
      expect(rangeFromText(text)).toEqual({ preset: '1h' });
    },
  );

  it('spans what was dragged, a minute at least', () => {
    expect(draggedRange(1000.4, 2000.2)).toEqual({ from: 1_000_000, to: 2_001_000 });
    expect(draggedRange(1000, 1010)).toEqual({ from: 950_000, to: 1_010_000 });
    expect(rangeFromText(rangeToText(draggedRange(1_790_000_000, 1_790_000_001)))).toMatchObject({
      to: 1_790_000_001_000,
    });
  });

  it('has a minute at least before and after what ran', () => {
    expect(rangeAround('2026-11-26T20:00:00Z', '2026-11-26T20:00:05Z')).toEqual({
      from: Date.parse('2026-11-26T19:59:00Z'),
      to: Date.parse('2026-11-26T20:01:05Z'),
    });
    expect(rangeAround('2026-11-26T20:00:00Z', '2026-11-27T21:00:00Z')).toEqual({
      from: Date.parse('2026-11-26T19:30:00Z'),
      to: Date.parse('2026-11-27T21:30:00Z'),
    });
  });

  it('of the last hours ends now', () => {
    const now = Date.parse('2026-11-26T21:00:00Z');
    expect(boundsOf({ preset: '6h' }, now)).toEqual({
      from: '2026-11-26T15:00:00.000Z',
      to: '2026-11-26T21:00:00.000Z',
    });
  });
});

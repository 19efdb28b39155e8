import { describe, expect, it } from 'vitest';
import { judge } from './oracle.ts';

const wish = (at: number, what: 'run' | 'stop' | 'remove' | 'restart') => ({ container: 1, at, wish: what });
const action = (at: number, what: 'create' | 'start' | 'stop' | 'destroy') => ({ container: 1, at, action: what });

describe('what Docker did, held against what was wished', () => {
  it('is explained by a wish before it, once', () => {
    expect(judge([wish(1, 'run')], [action(2, 'create'), action(3, 'start')], [])).toEqual([]);
    expect(judge([wish(5, 'run')], [action(2, 'create')], [])).toHaveLength(1);
    expect(judge([wish(1, 'run')], [action(2, 'start'), action(3, 'start')], [])).toHaveLength(1);
    expect(judge([], [action(2, 'stop')], [])).toHaveLength(1);
    expect(judge([{ ...wish(1, 'run'), container: 2 }], [action(2, 'create')], [])).toHaveLength(1);
  });

  it('may follow wishes that others overtook: each was signed', () => {
    const wishes = [wish(1, 'run'), wish(2, 'stop'), wish(3, 'run')];
    expect(judge(wishes, [action(4, 'start'), action(5, 'stop'), action(6, 'start')], [])).toEqual([]);
  });

  it('takes a restart for one stop and one start, a removal for a stop and the end', () => {
    const wishes = [wish(1, 'restart'), wish(4, 'remove')];
    expect(judge(wishes, [action(2, 'stop'), action(3, 'start'), action(5, 'stop'), action(6, 'destroy')], [])).toEqual(
      [],
    );
    expect(judge([wish(1, 'restart')], [action(2, 'stop'), action(3, 'start'), action(4, 'stop')], [])).toHaveLength(1);
  });

  it('is explained by nothing from before everything was as wished', () => {
    const settles = [{ container: 1, at: 3 }];
    expect(judge([wish(1, 'run')], [action(4, 'start')], settles)).toHaveLength(1);
    expect(judge([wish(1, 'run')], [action(4, 'start')], [{ container: 2, at: 3 }])).toEqual([]);
    expect(judge([wish(1, 'run'), wish(3, 'stop')], [action(4, 'stop')], settles)).toEqual([]);
  });
});

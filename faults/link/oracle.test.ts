import { describe, expect, it } from 'vitest';
import { judge } from './oracle.ts';

const wish = (at: number, what: 'run' | 'stop' | 'remove' | 'restart') => ({ container: 1, at, wish: what });
const action = (at: number, what: 'create' | 'start' | 'stop' | 'destroy') => ({ container: 1, at, action: what });

describe('an action of Docker', () => {
  it('is explained by an earlier request, once', () => {
    expect(judge([wish(1, 'run')], [action(2, 'create'), action(3, 'start')], [])).toEqual([]);
    expect(judge([wish(5, 'run')], [action(2, 'create')], [])).toHaveLength(1);
    expect(judge([wish(1, 'run')], [action(2, 'start'), action(3, 'start')], [])).toHaveLength(1);
    expect(judge([], [action(2, 'stop')], [])).toHaveLength(1);
    expect(judge([{ ...wish(1, 'run'), container: 2 }], [action(2, 'create')], [])).toHaveLength(1);
  });

  it('may follow a request that a later one overtook, as each was signed', () => {
    const wishes = [wish(1, 'run'), wish(2, 'stop'), wish(3, 'run')];
    expect(judge(wishes, [action(4, 'start'), action(5, 'stop'), action(6, 'start')], [])).toEqual([]);
  });

  it('may be the stop and the start of a restart, or the stop and the end of a removal', () => {
    const wishes = [wish(1, 'restart'), wish(4, 'remove')];
    expect(judge(wishes, [action(2, 'stop'), action(3, 'start'), action(5, 'stop'), action(6, 'destroy')], [])).toEqual(
      [],
    );
    expect(judge([wish(1, 'restart')], [action(2, 'stop'), action(3, 'start'), action(4, 'stop')], [])).toHaveLength(1);
  });

  it('is not explained by requests from before the desired state was reached', () => {
    const settles = [{ container: 1, at: 3 }];
    expect(judge([wish(1, 'run')], [action(4, 'start')], settles)).toHaveLength(1);
    expect(judge([wish(1, 'run')], [action(4, 'start')], [{ container: 2, at: 3 }])).toEqual([]);
    expect(judge([wish(1, 'run'), wish(3, 'stop')], [action(4, 'stop')], settles)).toEqual([]);
  });
});

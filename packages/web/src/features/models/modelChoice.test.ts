import { describe, expect, it } from 'vitest';
import { choiceIn, type ModelChoice, putChoice } from './modelChoice.ts';

const model = { qualities: ['M', 'XL'] as const, contextLength: 4096 };
const shown = { ...model, qualities: [...model.qualities] };
const read = (query: string) => choiceIn(new URLSearchParams(query), shown);
const write = (query: string, changed: Partial<ModelChoice>) => {
  const params = new URLSearchParams(query);
  putChoice(params, changed, shown);
  return params.toString();
};

describe('the choice in the address of a model', () => {
  it('is a load of a few readers where nothing is said', () => {
    expect(read('')).toEqual({
      gpu: null,
      count: 1,
      quality: 'XL',
      format: null,
      engine: null,
      context: 4096,
      batch: 1,
      has8BitCache: false,
      load: { clients: 8 },
      lengths: { input: 1024, output: 256 },
      goal: { tpot: 0.1 },
    });
  });

  it('is read back as it was written, and keeps what else is there', () => {
    const choice: ModelChoice = {
      gpu: 'l4',
      count: 2,
      quality: 'M',
      format: 'gguf',
      engine: 'llama.cpp',
      context: 2048,
      batch: 3,
      has8BitCache: true,
      load: { perSecond: 0.5 },
      lengths: { input: 10, output: 20 },
      goal: { tpot: 0.055, ttft: 2 },
    };
    const query = write('id=a%2Fb', choice);
    expect(read(query)).toEqual(choice);
    expect(new URLSearchParams(query).get('id')).toBe('a/b');
    expect(write(query, read(''))).toBe('id=a%2Fb');
  });

  it('ignores what it does not understand', () => {
    const query =
      'count=3&quality=S&format=zip&engine=x&context=-1&batch=1.5&clients=5000&rate=0&input=&output=NaN&tpot=0&ttft=x';
    expect(read(query)).toEqual(read(''));
  });

  it('changes from clients to requests per second and back', () => {
    const query = write('clients=32', { load: { perSecond: 2 } });
    expect(query).toBe('rate=2');
    expect(write(query, { load: { clients: 32 } })).toBe('clients=32');
  });
});

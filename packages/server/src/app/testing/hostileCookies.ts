import { newSeed, seeded } from '@stagi/contract/testing/random.ts';

/** All headers of a request may have 16 KiB. */
const MANY = 15_000;

const fill = (unit: string, length = MANY): string => unit.repeat(Math.floor(length / unit.length));

export function cookies(): Record<string, string> {
  const seed = newSeed();
  console.log(`hostile cookies: seed ${seed}`);
  const random = seeded(seed);
  const mix = (characters: string) => Array.from({ length: MANY }, () => random.pick([...characters])).join('');
  const jwt = 'stagi-port=eyJhbGciOiJFZERTQSIsInR5cCI6InBvcnQrand0In0.e30.AAAA; ';
  return {
    spaces: `x${fill(' ')}x`,
    tabs: `x${fill('\t')}x`,
    'no-break spaces': `x${fill('\u00a0')}x`,
    semicolons: fill(';'),
    'equals signs': fill('='),
    'spaces and semicolons': fill(' ; '),
    'spaces before =': `stagi-port${fill(' ')}=x`,
    'spaces behind =': `stagi-port=${fill(' ')}x`,
    'equals signs and spaces': fill('= '),
    quotes: `a="${fill('\\"')}`,
    'names of passes': fill('stagi-port=; '),
    'passes of nothing': Array.from({ length: 800 }, (_, n) => `stagi-port=${n}.a.b`).join('; '),
    'passes that may be': fill(jwt),
    'a pass of dots': `stagi-port=${fill('a.')}`,
    'a pass of letters': `stagi-port=${fill('a')}.`,
    'access requests': Array.from({ length: 230 }, (_, n) => `stagi-trip-${n}=${'A'.repeat(43)}`).join('; '),
    'a mix': mix(' \t;=x'),
    'another mix': mix(' \u00a0;=",stagi-port'),
  };
}

import { seeded } from '@stagi/contract/testing/random.ts';
import { expect, it } from 'vitest';
import { END, eachTerm, wantedFor } from './terms.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const random = seeded(SEED);
const TEXTS = 2_000;
const SIGNS = 'abZ%_\\ \n.@7';

it('of a text are among those of whatever holds it, down to one sign', () => {
  const shortened = { terms: 0, range: 0 };
  for (let n = 0; n < TEXTS; n += 1) {
    const search = Array.from({ length: random.between(1, 30) }, () => random.pick([...SIGNS])).join('');
    const from = random.between(0, search.length - 1);
    const text = search.slice(from, from + random.between(1, 6));
    const held = new Set<number>();
    eachTerm(search + END, (term) => held.add(term));
    const wanted = wantedFor(text);
    const hint = `seed ${SEED}: ${JSON.stringify({ search, text })}`;
    if ('terms' in wanted) {
      expect(wanted.terms.length, hint).toBeGreaterThan(0);
      expect(
        wanted.terms.filter((term) => !held.has(term)),
        hint,
      ).toEqual([]);
      shortened.terms += 1;
    } else {
      expect(
        [...held].some((term) => term >= wanted.first && term <= wanted.last),
        hint,
      ).toBe(true);
      shortened.range += 1;
    }
  }
  console.log(`terms: n = ${shortened.terms} texts of three signs and more, ${shortened.range} of fewer, seed ${SEED}`);
  expect(Math.min(shortened.terms, shortened.range)).toBeGreaterThan(100);
});

it('tell texts apart that differ in one sign', () => {
  const of = (text: string) => {
    const wanted = wantedFor(text);
    return 'terms' in wanted ? wanted.terms : [];
  };
  expect(of('linus')).toHaveLength(3);
  expect(of('linus').filter((term) => of('lixus').includes(term))).toEqual([]);
  expect(wantedFor('\nq')).toEqual({ first: (10 << 14) | (113 << 7), last: (10 << 14) | (113 << 7) | 127 });
});

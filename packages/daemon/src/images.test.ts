import { describe, expect, it } from 'vitest';
import { freedBytes, type ImageDetail, sizedLayers } from './dockerImages.ts';
import { prunable } from './images.ts';

const image = (id: string, layers: [string, number][], more: Partial<ImageDetail> = {}): ImageDetail => ({
  id,
  references: [`${id}:latest`],
  containers: [],
  layers: sizedLayers(
    layers.map(([name]) => name),
    layers.map(([, bytes]) => bytes),
  ),
  ...more,
});

describe('what a removal frees', () => {
  const all = [
    image('a', [
      ['base', 100],
      ['a', 10],
    ]),
    image('b', [
      ['base', 100],
      ['b', 20],
    ]),
    image('c', [
      ['other', 7],
      ['base', 100],
    ]),
  ];
  it.each([
    [['a'], 10],
    [['a', 'b'], 130],
    [['c'], 107],
    [['a', 'b', 'c'], 237],
    [[], 0],
  ])('of %j is %d bytes: layers that no other image has', (removed, bytes) => {
    expect(freedBytes(all, new Set(removed))).toBe(bytes);
  });

  it('counts sizes to the lowest layers where the history has entries without a layer', () => {
    expect(sizedLayers(['x', 'y'], [0, 5, 0, 6, 0]).map(({ bytes }) => bytes)).toEqual([5, 6]);
    expect(sizedLayers(['x', 'y'], [0, 6]).map(({ bytes }) => bytes)).toEqual([0, 6]);
    expect(sizedLayers(['x', 'y', 'z'], [5, 0, 0, 6]).map(({ bytes }) => bytes)).toEqual([5, 6, 0]);
  });
});

describe('a prune', () => {
  const all = [
    image('free', []),
    image('used', [], { containers: ['web'] }),
    image('wanted', []),
    image('theirs', []),
    image('unnamed', [], { references: [] }),
    image('both', [], { references: ['free:2', 'theirs:2'] }),
  ];
  const needed = new Set(['wanted:latest']);
  const names = (isOurs: (reference: string) => boolean, withUnnamed: boolean) =>
    prunable(all, { needed, isOurs, withUnnamed }).map(({ id }) => id);

  it('takes all that nothing needs on a rented server', () => {
    expect(names(() => true, true)).toEqual(['free', 'theirs', 'unnamed', 'both']);
  });

  it('takes only what our containers were made of on an own server', () => {
    expect(names((reference) => !reference.startsWith('theirs'), false)).toEqual(['free']);
  });
});

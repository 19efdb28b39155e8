import { expect, it } from 'vitest';
import { circlesIn, importCircles, roomsOf } from './circles.ts';

const SERVER = 'packages/server/src';

it('finds circles of any length and leaves out what only leads to one', () => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c', 'd'])],
    ['c', new Set(['a'])],
    ['d', new Set(['e'])],
    ['e', new Set(['d', 'f'])],
    ['f', new Set<string>()],
    ['g', new Set(['a'])],
  ]);
  expect(circlesIn(graph)).toEqual([
    ['d', 'e'],
    ['a', 'b', 'c'],
  ]);
});

it('counts rooms by the values they import, and not by types or by tests', () => {
  const rooms = roomsOf(
    new Map([
      [`${SERVER}/billing/a.ts`, [{ to: `${SERVER}/db/pool.ts`, isTypeOnly: false }]],
      [`${SERVER}/db/pool.ts`, [{ to: `${SERVER}/billing/a.ts`, isTypeOnly: true }]],
      [`${SERVER}/db/pool.test.ts`, [{ to: `${SERVER}/billing/a.ts`, isTypeOnly: false }]],
      [`${SERVER}/start.ts`, [{ to: `${SERVER}/billing/a.ts`, isTypeOnly: false }]],
    ]),
    SERVER,
  );
  expect([...rooms].map(([room, below]) => [room, ...below])).toEqual([
    ['billing', 'db'],
    ['db'],
    ['start', 'billing'],
  ]);
});

it('reads the whole project, whose rooms and files form no circle', () => {
  expect(importCircles()).toEqual([]);
});

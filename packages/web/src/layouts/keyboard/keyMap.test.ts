import { expect, it } from 'vitest';
import { GO_TO, paletteKeys, signOf } from './keyMap.ts';

it('reads a press by its sign, and by its place where the layout has another script', () => {
  expect(signOf({ key: 'g', code: 'KeyG' })).toBe('g');
  expect(signOf({ key: 'G', code: 'KeyG' })).toBe('g');
  expect(signOf({ key: 'п', code: 'KeyG' })).toBe('g');
  expect(signOf({ key: '/', code: 'Slash' })).toBe('/');
  expect(signOf({ key: '?', code: 'Digit7' })).toBe('?');
  expect(signOf({ key: 'Enter', code: 'Enter' })).toBe('');
  // A Dvorak typist means the letter that the key writes.
  expect(signOf({ key: 'i', code: 'KeyG' })).toBe('i');
});

it('leads each letter to one page', () => {
  expect(new Set(GO_TO.map(({ letter }) => letter)).size).toBe(GO_TO.length);
  expect(new Set(GO_TO.map(({ route }) => route.path)).size).toBe(GO_TO.length);
});

it('writes the palette’s key as the machine does', () => {
  expect(paletteKeys('MacIntel')).toEqual(['⌘', 'K']);
  expect(paletteKeys('Linux x86_64')).toEqual(['Ctrl', 'K']);
});

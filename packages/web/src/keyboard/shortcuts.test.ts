import { expect, it } from 'vitest';
import { GO_TO_PAGES, paletteKeys, pressedKey } from './shortcuts.ts';

it('reads a press by its sign, and by its place where the layout has another script', () => {
  expect(pressedKey({ key: 'g', code: 'KeyG' })).toBe('g');
  expect(pressedKey({ key: 'G', code: 'KeyG' })).toBe('g');
  expect(pressedKey({ key: 'п', code: 'KeyG' })).toBe('g');
  expect(pressedKey({ key: '/', code: 'Slash' })).toBe('/');
  expect(pressedKey({ key: '?', code: 'Digit7' })).toBe('?');
  expect(pressedKey({ key: 'Enter', code: 'Enter' })).toBe('');
  // A Dvorak typist means the letter that the key writes.
  expect(pressedKey({ key: 'i', code: 'KeyG' })).toBe('i');
});

it('leads each letter to one page', () => {
  expect(new Set(GO_TO_PAGES.map(({ letter }) => letter)).size).toBe(GO_TO_PAGES.length);
  expect(new Set(GO_TO_PAGES.map(({ route }) => route.path)).size).toBe(GO_TO_PAGES.length);
});

it('writes the palette’s key as the machine does', () => {
  expect(paletteKeys('MacIntel')).toEqual(['⌘', 'K']);
  expect(paletteKeys('Linux x86_64')).toEqual(['Ctrl', 'K']);
});

import { expect, it } from 'vitest';
import { formattedJson, pictureTypeByName, previewKind, textOf } from './previewKind.ts';

it('goes by the stored type, else by the name', () => {
  expect(previewKind('image/png', 'a')).toBe('image');
  expect(previewKind('image/svg+xml', 'a.svg')).toBe('image');
  expect(previewKind('binary/octet-stream', 'a.PNG')).toBe('image');
  expect(previewKind('application/json', 'a')).toBe('json');
  expect(previewKind('application/geo+json; charset=utf-8', 'a')).toBe('json');
  expect(previewKind('text/plain', 'a.csv')).toBe('csv');
  expect(previewKind('text/html', 'a.html')).toBe('text');
  expect(previewKind('binary/octet-stream', 'LICENSE')).toBe('text');
  expect(previewKind('binary/octet-stream', 'model.safetensors')).toBe('none');
  expect(previewKind('application/zip', 'a.zip')).toBe('none');
  expect(previewKind('video/mp4', 'a')).toBe('video');
  expect(previewKind('audio/mpeg', 'a')).toBe('audio');
  expect(previewKind('inode/symlink', 'a.txt')).toBe('none');
});

it('takes the type of a picture from its name only where none is stored, and never an SVG', () => {
  expect(pictureTypeByName('image/gif', 'a.png')).toBeNull();
  expect(pictureTypeByName('binary/octet-stream', 'a.png')).toBe('image/png');
  expect(pictureTypeByName('binary/octet-stream', 'a.svg')).toBeNull();
});

it('tells text from other bytes, also when the end is cut', () => {
  const bytes = new TextEncoder().encode('día é');
  expect(textOf(bytes, false)?.text).toBe('día é');
  expect(textOf(bytes.subarray(0, bytes.length - 1), true)?.text).toBe('día ');
  expect(textOf(new Uint8Array([80, 75, 0, 1]), false)).toBeNull();
  expect(textOf(new Uint8Array(64).fill(200), false)).toBeNull();
  expect(textOf(new TextEncoder().encode('a'.repeat(30)), false)).not.toBeNull();
});

it('formats JSON, and shows what is no JSON as it is', () => {
  expect(formattedJson({ text: '{"a":1}', isCut: false })).toBe('{\n  "a": 1\n}');
  expect(formattedJson({ text: '{"a":', isCut: false })).toBe('{"a":');
  expect(formattedJson({ text: '{"a":1}', isCut: true })).toBe('{"a":1}');
});

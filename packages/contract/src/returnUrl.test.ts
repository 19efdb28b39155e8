import { expect, it } from 'vitest';
import { safeReturnUrl } from './returnUrl.ts';

const ORIGIN = 'https://stagi.example';

it.each([
  '/',
  '/cloud',
  '/cloud/containers/7?tab=logs#L3',
  '/a%20b',
  '/@evil.example',
  '/:80',
  '/%2f%2fevil.example',
  '/a//b',
])('follows %j', (url) => {
  expect(safeReturnUrl(url, ORIGIN)).toBe(url);
});

it.each([
  '',
  'cloud',
  'https://evil.example',
  'https://stagi.example.evil.example/',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  ' /cloud',
  '/ /evil.example',
  'javascript:alert(1)',
  '/.//evil.example',
  '/..//evil.example',
  `/${'a'.repeat(2048)}`,
  '/\u0000',
  '/\u007f',
])('does not follow %j', (url) => {
  expect(safeReturnUrl(url, ORIGIN)).toBeNull();
});

import { expect, it } from 'vitest';
import { pathBytes, pathText, plainPath } from './codePath.ts';
import { newSeed, seeded } from './testing/random.ts';

it('gives each name a text of its own, which leads back to its bytes', () => {
  const seed = newSeed();
  const random = seeded(seed);
  // The bytes that matter: of UTF-8, of escapes, control characters.
  const BYTES = [
    0x5c, 0x78, 0x6e, 0x0a, 0x0d, 0x09, 0x7f, 0x41, 0x46, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xed, 0xa0, 0xf0, 0x9f, 0xff,
    0xc0,
  ];
  const seen = new Map<string, string>();
  const count = 20_000;
  for (let n = 0; n < count; n += 1) {
    const bytes = Uint8Array.from({ length: random.between(1, 6) }, () => random.pick(BYTES));
    const text = pathText(bytes);
    const hex = Buffer.from(bytes).toString('hex');
    expect([seed, hex, Buffer.from(pathBytes(text)!).toString('hex')]).toEqual([seed, hex, hex]);
    expect([seed, seen.get(text) ?? hex]).toEqual([seed, hex]);
    expect(text.isWellFormed()).toBe(true);
    seen.set(text, hex);
  }
  console.log(`names as text and back: n = ${count}, seed ${seed}`);
});

it('refuses a backslash that begins no escape', () => {
  for (const text of ['\\', 'a\\', '\\q', '\\x', '\\x4', '\\xG0', '\\X41'])
    expect([text, pathBytes(text)]).toEqual([text, null]);
  expect(plainPath('a\\\\b \\xE9')).toBe('a\\b \ufffd');
});

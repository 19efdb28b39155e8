import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSecretBox } from './secretBox.ts';

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

it('opens what it sealed, in its place, and no text that differs in a character', () => {
  const box = createSecretBox(randomBytes(32));
  const sealed = box.seal('päss', 'row|1');
  expect(box.open(sealed, 'row|1')).toBe('päss');
  expect(() => box.open(sealed, 'row|2')).toThrow();
  const changed = [`${sealed}.`, `${sealed}.AAAA`, `${sealed}=`, ` ${sealed}`, `${sealed}\n`];
  // Its last characters hold unused bits: some of these decode to the same bytes.
  for (let at = 0; at < sealed.length; at += 1)
    for (const other of BASE64URL)
      if (other !== sealed[at]) changed.push(sealed.slice(0, at) + other + sealed.slice(at + 1));
  for (const text of changed) expect(() => box.open(text, 'row|1'), text).toThrow();
  console.log(`changed secrets: n = ${changed.length}, 0 opened`);
});

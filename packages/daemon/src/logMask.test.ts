import { describe, expect, it } from 'vitest';
import { logMask } from './logMask.ts';

const masked = (text: string, ...secrets: string[]) => Buffer.from(logMask(secrets)(Buffer.from(text))).toString();

describe('the mask of a log', () => {
  it.each([
    ['nothing in it', ['canary-1'], 'nothing in it'],
    ['token=canary-1!', ['canary-1'], 'token=***!'],
    ['canary-1canary-1', ['canary-1'], '******'],
    ['pässwörd-ü and pässwörd-ü', ['pässwörd-ü'], '*** and ***'],
    ['canary-1-long', ['canary-1', 'canary-1-long'], '***'],
    ['-----BEGIN KEY-----', ['-----BEGIN KEY-----\nabcdefgh\n'], '***'],
    ['abcdefgh', ['-----BEGIN KEY-----\r\nabcdefgh\r\n'], '***'],
    ['true 12345', ['true', '12345', '', ' '], 'true 12345'],
    ['a.b+c(d', ['a.b+c(d'], '***'],
  ])('makes of %j with %j: %j', (text, secrets, expected) => {
    expect(masked(text, ...secrets)).toBe(expected);
  });

  it('never makes a text longer, and leaves bytes that are no UTF-8 as they are', () => {
    const bytes = Buffer.from([0xff, 0xfe, ...Buffer.from('canary-1'), 0x00, 0xff]);
    expect(Buffer.from(logMask(['canary-1'])(bytes))).toEqual(Buffer.from([0xff, 0xfe, 0x2a, 0x2a, 0x2a, 0x00, 0xff]));
  });
});

const MANY = 16_000;

const fill = (unit: string, length = MANY): string => unit.repeat(Math.floor(length / unit.length));
const field = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
const line = (type: string, ...fields: Buffer[]): string =>
  `${type} ${Buffer.concat([field(Buffer.from(type)), ...fields.map(field)]).toString('base64')}`;

/** Public keys that are none, or with a comment that is much; `valid` is one. */
export function hostileKeys(valid: string): Record<string, string> {
  const [type = '', base64 = ''] = valid.split(' ');
  return {
    'spaces behind the type': `ssh-ed25519${fill(' ')}x`,
    'tabs behind the type': `ssh-ed25519${fill('\t')}!`,
    'spaces and tabs': `ssh-ed25519${fill(' \t')}!`,
    'no-break spaces': `ssh-ed25519${fill('\u00a0')}x`,
    'spaces behind the key': `${type} ${base64}${fill(' ', 15_000)}\u0001`,
    'a comment of spaces': `${type} ${base64} x${fill(' ', 15_000)}x`,
    'a comment of tabs': `${type} ${base64} x${fill('\t', 15_000)}x`,
    'a comment of letters': `${type} ${base64} ${fill('é', 15_000)}`,
    'line separators': `${type} ${base64} ${fill('\u2028', 15_000)}`,
    'equals signs': `ssh-ed25519 AAAA${fill('=')}`,
    'letters and equals signs': `ssh-ed25519 ${fill('A=')}`,
    'base64 without an end': `ssh-ed25519 ${fill('A')}!`,
    'a type without an end': fill('ssh-'),
    'a type of dots': `${fill('.')} AAAA`,
    'a key of empty fields': line('ssh-ed25519', ...Array.from({ length: 2_900 }, () => Buffer.alloc(0))),
    'a large RSA key': line('ssh-rsa', Buffer.alloc(4_000, 1), Buffer.alloc(7_900, 1)),
    'a megabyte of spaces': `ssh-ed25519${fill(' ', 1_000_000)}x`,
    'a megabyte of letters': fill('A', 1_000_000),
  };
}

/** Messages of visitors, as long as they may be. */
export const hostileMessages: Record<string, string> = {
  'beginnings of links': fill('<a ', 5_000),
  'a link without an end': `<${fill(' ', 4_900)}a`,
  'empty lines': `x${fill('\n ', 4_900)}x`,
  'a header without an end': `x-${fill('a-', 4_900)}`,
  'line breaks in words': fill('%0a ', 5_000),
  'encoded words': fill('=?a?b?', 5_000),
  digits: `+1${fill('1 ', 4_900)}`,
  addresses: fill('https://', 5_000),
};

/** All headers of a request may have 16 KiB. */
const MANY = 15_000;

const fill = (unit: string, length = MANY): string => unit.repeat(Math.floor(length / unit.length));
/** `a`, `b`, …: as many names of letters as are needed. */
const letters = (n: number): string =>
  n.toString(26).replace(/./g, (digit) => 'abcdefghijklmnopqrstuvwxyz'[Number.parseInt(digit, 26)]!);

/** The value of `Authorization`, and the one other header that it may need. */
export function authorizations(keyId: string, timestamp: string): Record<string, [authorization: string, a?: string]> {
  const scope = `${timestamp.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const credential = `Credential=${keyId}/${scope}`;
  const zeroes = '0'.repeat(64);
  const needed = 'host;x-amz-content-sha256;x-amz-date';
  const of = (text: string): [string] => [`AWS4-HMAC-SHA256 ${text}`];
  return {
    spaces: of(`${fill(' ')}x`),
    tabs: of(`a=${fill('\t')}x`),
    'no-break spaces': of(`${fill('\u00a0')}a=`),
    'spaces before a name': of(`${fill(' ')}Credential=x`),
    'spaces behind a name': of(`Credential${fill(' ')}=x`),
    'spaces in a value': of(`Credential=x${fill(' ')}x`),
    commas: of(fill(',')),
    'commas and spaces': of(fill(' ,')),
    'equals signs': of(fill('=')),
    'parts of other names': of(Array.from({ length: 3_000 }, (_, n) => `${letters(n)}=`).join(',')),
    'slashes in a credential': of(`Credential=${fill('a/')}`),
    'dates in a credential': of(`Credential=a${fill('/20261129')}`),
    'a region of letters': of(`Credential=a/20261129/${fill('a')}`),
    'no end': of(`Credential="${fill('\\"')}`),
    'no scheme': [fill('AWS4-HMAC-SHA256')],
    'a signature of digits': of(`${credential}, SignedHeaders=${needed}, Signature=${fill('0', 14_000)}`),
    'signed headers of nothing': of(`${credential}, SignedHeaders=${needed}${fill(';', 14_000)}, Signature=${zeroes}`),
    'other signed headers': of(
      `${credential}, SignedHeaders=${needed};${Array.from({ length: 3_000 }, (_, n) => letters(n)).join(';')}, Signature=${zeroes}`,
    ),
    'one signed header again and again': [
      `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${needed}${fill(';a', 8_500)}, Signature=${zeroes}`,
      `${fill('x ', 5_000)}x`,
    ],
  };
}

/** Lists of headers of a preflight. */
export const preflights = (): Record<string, string> => ({
  '7,500 headers': fill('a,'),
  commas: fill(','),
  spaces: `a${fill(' ')}a`,
  'spaces and commas': fill(' , '),
  tabs: `a,${fill('\t')}a`,
  '100 headers that the last pattern fits': Array.from({ length: 100 }, (_, n) => `h${n}`).join(','),
  '99 of them and one that none fits': [...Array.from({ length: 99 }, (_, n) => `h${n}`), 'none'].join(','),
  '100 headers that none fits': Array.from({ length: 100 }, (_, n) => `none${n}`).join(','),
  '100 long headers': Array.from({ length: 100 }, (_, n) => `h${'x'.repeat(140)}${n}`).join(','),
  'one header of 15,000 letters': `h${fill('a')}`,
  stars: fill('*,', 200),
});

import { text } from './text.ts';

const PPK = /PuTTY-User-Key-File-\d/;
/** The first line of PEM, PKCS 8, OpenSSH, SSH2 and PGP; on one line or several. */
const HEADER = /---- ?BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY/;
/** The text after the first line of OpenSSH's format: `openssh-key-v1` as base64. */
const OPENSSH = 'b3BlbnNzaC1rZXktdjE';

/** The refusal of what must be neither sent nor kept; null: it is no private key. */
export function privateKeyProblem(pasted: string): string | null {
  if (PPK.test(pasted))
    return text(
      'This is a private key of PuTTY (.ppk). It was not kept. Open it in PuTTYgen and paste what stands under “Public key for pasting into OpenSSH authorized_keys file”',
    );
  const has = (...words: string[]): boolean => words.every((word) => pasted.includes(word));
  const isPrivate =
    HEADER.test(pasted) ||
    has(OPENSSH) ||
    has('AGE-SECRET-KEY-1') ||
    // A JWK, and .NET's XML.
    has('"kty"', '"d"') ||
    has('<RSAKeyValue>', '<D>');
  if (!isPrivate) return null;
  return text(
    'This is a private key. It was not kept. Never give it to anybody: paste the public one, from the file that ends in .pub',
  );
}

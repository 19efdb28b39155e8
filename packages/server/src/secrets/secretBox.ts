import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Encryption of secrets at rest: AES-256-GCM with a random 96-bit nonce, bound to the row by associated data. */
export interface SecretBox {
  /** Format `v1.<key id>.<nonce>.<ciphertext>.<tag>`; `place` is like `container|env|12`. */
  seal(plain: string, place: string): string;
  /** Throws when the text was changed, moved to another place, or sealed with another key. */
  open(sealed: string, place: string): string;
  /** A keyed hash (HMAC), to recognise a text without storing it. */
  keyedHash(plain: string, place: string): Buffer;
}

const TAG_BYTES = 16;
const KEY_FILE = 'secret.key';

export function createSecretBox(key: Buffer): SecretBox {
  const markKey = Buffer.from(hkdfSync('sha256', key, '', 'stagi marks', 32));
  const keyId = keyIdOf(key);
  return {
    seal(plain, place) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return [
        'v1',
        keyId,
        nonce.toString('base64url'),
        text.toString('base64url'),
        cipher.getAuthTag().toString('base64url'),
      ].join('.');
    },
    open(sealed, place) {
      const [version, id, nonce, text, tag, ...more] = sealed.split('.');
      if (version !== 'v1' || nonce === undefined || text === undefined || tag === undefined || more.length > 0)
        throw new Error('not a sealed secret');
      if (id !== keyId) throw new Error(`secret is sealed with key ${id}, and STAGI_SECRET_KEY is key ${keyId}`);
      const decipher = createDecipheriv('aes-256-gcm', key, bytesOf(nonce), {
        // A shorter tag could be guessed.
        authTagLength: TAG_BYTES,
      }).setAAD(Buffer.from(place));
      decipher.setAuthTag(bytesOf(tag));
      return Buffer.concat([decipher.update(bytesOf(text)), decipher.final()]).toString('utf8');
    },
    keyedHash: (plain, place) => createHmac('sha256', markKey).update(`${place}\0${plain}`).digest(),
  };
}

/** Node ignores what is no base64, and the unused bits of the last character: a changed text would still be opened. */
function bytesOf(base64url: string): Buffer {
  const bytes = Buffer.from(base64url, 'base64url');
  if (bytes.toString('base64url') !== base64url) throw new Error('not a sealed secret');
  return bytes;
}

/** Names a key in what it sealed, in messages and in the database; tells nothing about it. */
export const keyIdOf = (key: Buffer): string => createHash('sha256').update(key).digest('hex').slice(0, 8);

/** The configured key, or the one in the data directory, which the first start creates (mode 0400). */
export function loadSecretKey(configured: string | null, dataDir: string): Buffer {
  const found = findSecretKey(configured, dataDir);
  if (found) return found;
  writeFileSync(join(dataDir, KEY_FILE), randomBytes(32).toString('base64'), { mode: 0o400, flag: 'wx', flush: true });
  return findSecretKey(null, dataDir)!;
}

/** As `loadSecretKey`; null where that would make one. */
export function findSecretKey(configured: string | null, dataDir: string): Buffer | null {
  if (configured) return Buffer.from(configured, 'base64');
  const file = join(dataDir, KEY_FILE);
  return existsSync(file) ? Buffer.from(readFileSync(file, 'utf8'), 'base64') : null;
}

import { privateKeyProblem } from '@stagi/contract/privateKey.ts';
import { text } from '@stagi/contract/text.ts';
import { invalid, type PublicError } from '../http/errors.ts';

const KEY_TYPE = /^(?:ssh-[a-z0-9-]+|ecdsa-sha2-[a-z0-9-]+|sk-[a-z0-9-]+@openssh\.com)$/;
const OPTION =
  /^(?:restrict|cert-authority|verify-required|no-[a-z0-9-]+|(?:command|environment|from|permitopen|permitlisten|principals|tunnel|expiry-time|agent-forwarding|port-forwarding|pty|x11-forwarding|user-rc)\b)/i;
/** A line of ssh-keygen -l, also with the number of bits before it. */
const FINGERPRINT =
  /^(?:\d{1,5} )?(?:SHA256:[A-Za-z0-9+/]{43}=?(?:\s|$)|(?:MD5:)?(?:[0-9a-f]{2}:){15}[0-9a-f]{2}(?:\s|$))/i;
/** Hosts have dots, ports or brackets, or are hashed. */
const HOST = /^(?:\|1\||\[|localhost$|@(?:cert-authority|revoked)$)|\w[.,:]\w/;
const FILE = /^(?:~|\/|\.{1,2}\/|[A-Za-z]:\\|%)\S*$|^\S+\.pub$/;

const ANOTHER = 'ssh-keygen -t ed25519';

const refuse = (message: string, values?: Record<string, string | number>): PublicError =>
  invalid(message, 'publicKey', values);

/** Why a text is no public key in OpenSSH's format, by what people paste instead: what it is and what to do. */
export function keyProblem(pasted: string): PublicError {
  const known = wholeText(pasted);
  if (known) return known;
  const lines = pasted.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  const words = (lines[0] ?? '').trim().split(/[ \t]+/);
  const [first = ''] = words;
  if (lines.filter((line) => KEY_TYPE.test(line.trim().split(/\s/, 1)[0]!)).length > 1)
    return refuse(text('These are several keys: add them one by one'));
  const at = words.findIndex((word) => KEY_TYPE.test(word));
  if (at > 0) return beforeType(first);
  if (at < 0 && OPTION.test(first)) return beforeType(first);
  if (first.endsWith('-cert-v01@openssh.com'))
    return refuse(
      text(
        'This is an SSH certificate. Paste the public key that it was made for, from the file without “-cert” in its name',
      ),
    );
  if (/^AAAA[A-Za-z0-9+/]{20}/.test(first))
    return refuse(text('The type of the key is missing. Paste the whole line, from ssh-ed25519 or ssh-rsa on'));
  if (lines.length > 1) return refuse(text('There is more than one line here. Paste only the line of the key'));
  return refuse(text('Invalid SSH key'));
}

function wholeText(pasted: string): PublicError | null {
  const secret = privateKeyProblem(pasted);
  if (secret) return refuse(secret);
  if (/---- BEGIN SSH2 PUBLIC KEY/.test(pasted))
    return refuse(
      text(
        'This is a public key in the format of RFC 4716. OpenSSH turns it into the line that belongs here: {{command}}',
      ),
      {
        command: 'ssh-keygen -i -f key.pub',
      },
    );
  if (/-----BEGIN RSA PUBLIC KEY/.test(pasted))
    return refuse(
      text('This is a public key in PEM format. OpenSSH turns it into the line that belongs here: {{command}}'),
      {
        command: 'ssh-keygen -i -m PEM -f key.pem',
      },
    );
  if (/-----BEGIN PUBLIC KEY/.test(pasted))
    return refuse(
      text('This is a public key in PEM format. OpenSSH turns it into the line that belongs here: {{command}}'),
      {
        command: 'ssh-keygen -i -m PKCS8 -f key.pem',
      },
    );
  if (/-----BEGIN (?:PGP|CERTIFICATE|X509|NEW CERTIFICATE|TRUSTED CERTIFICATE)/.test(pasted))
    return refuse(
      text(
        'This is a certificate or a PGP key, which SSH does not use. Paste an SSH public key, from the file that ends in .pub',
      ),
    );
  if (FINGERPRINT.test(pasted.trim()))
    return refuse(text('This is the fingerprint of a key. Paste the key itself, from the file that ends in .pub'));
  if (FILE.test(pasted.trim())) return refuse(text('This is the name of a file. Paste what is in it'));
  return null;
}

function beforeType(first: string): PublicError {
  if (!OPTION.test(first) && HOST.test(first))
    return refuse(
      text(
        'This is a line of known_hosts: the key of a server. Paste your own public key, from a file like ~/.ssh/id_ed25519.pub',
      ),
    );
  return refuse(text('There is something before the key. Paste only the key, from its type on, such as ssh-ed25519'));
}

/** The flaw of one that has the form of a key. */
export const cutKey = (): PublicError => refuse(text('The key is cut off. Copy the whole line, up to its end'));

export const unsafeDsa = (): PublicError =>
  refuse(text('DSA keys are no longer safe and not accepted. Make another key: {{command}}'), { command: ANOTHER });

export const wrongRsaSize = (bits: number): PublicError =>
  refuse(text('This RSA key has {{bits}} bits: 2048 to 16384 are accepted. Make another key: {{command}}'), {
    bits,
    command: ANOTHER,
  });

export const unknownType = (type: string): PublicError =>
  refuse(text('Keys of the type {{type}} are not accepted. Make another key: {{command}}'), { type, command: ANOTHER });

export const isKeyType = (word: string): boolean => KEY_TYPE.test(word);

const MASK = Buffer.from('***');
/** A shorter value, such as `true`, occurs by chance. */
const MIN_SECRET_BYTES = 6;

/**
 * Masks the values of secret variables in the text of a record. A value of several lines is masked line by line. One that
 * Docker splits between two records, every 16 KiB of a line, is not found.
 */
export function logMask(values: readonly string[]): (text: Uint8Array) => Uint8Array {
  const secrets = [...new Set(values.flatMap((value) => value.split('\n').map((line) => line.trim())))]
    .map((line) => Buffer.from(line))
    .filter(({ length }) => length >= MIN_SECRET_BYTES)
    // A value that contains another one is masked as a whole.
    .sort((a, b) => b.length - a.length);
  if (secrets.length === 0) return (text) => text;
  return (text) => secrets.reduce((masked, secret) => replaceAll(masked, secret), text);
}

function replaceAll(text: Uint8Array, secret: Buffer): Uint8Array {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, from)) {
    parts.push(bytes.subarray(from, at), MASK);
    from = at + secret.length;
  }
  return parts.length === 0 ? text : Buffer.concat([...parts, bytes.subarray(from)]);
}

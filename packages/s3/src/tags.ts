import { S3Error } from './errors.ts';

const MAX_TAGS = 10;
const MAX_KEY_CHARACTERS = 128;
const MAX_VALUE_CHARACTERS = 256;

/** The tags of an object, within the limits of S3. Throws InvalidTag or BadRequest's codes. */
export function checkTags(pairs: readonly (readonly [key: string, value: string])[]): Record<string, string> {
  if (pairs.length > MAX_TAGS) throw new S3Error('InvalidTag', `Object tags cannot be greater than ${MAX_TAGS}`);
  const tags = new Map<string, string>();
  for (const [key, value] of pairs) {
    if (key === '' || key.length > MAX_KEY_CHARACTERS || hasControl(key))
      throw new S3Error('InvalidTag', 'The TagKey you have provided is invalid');
    if (value.length > MAX_VALUE_CHARACTERS || hasControl(value))
      throw new S3Error('InvalidTag', 'The TagValue you have provided is invalid');
    if (tags.has(key)) throw new S3Error('InvalidTag', 'Cannot provide multiple Tags with the same key');
    tags.set(key, value);
  }
  return Object.fromEntries(tags);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f]/.test(text) || !text.isWellFormed();

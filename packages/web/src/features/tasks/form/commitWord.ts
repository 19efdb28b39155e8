const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHORT_HASH = /^[0-9a-f]{4,39}$/;

/** The first characters of a hash that are shown (specification section 9). */
const SHOWN = 7;

export const shortHash = (sha: string): string => sha.slice(0, SHOWN);

/** What may be the beginning of a hash, which the calls that read code do not complete. */
export const isShortHash = (word: string): boolean => SHORT_HASH.test(word);

/** A branch, tag or hash as the calls that read code take it. */
export const commitAt = (word: string): { branch?: string; sha?: string } =>
  HASH.test(word) ? { sha: word } : { branch: word };

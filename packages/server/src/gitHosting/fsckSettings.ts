/**
 * Flaws of objects that old versions of git wrote into many public histories and that harm nobody. Everything else that
 * `git fsck` finds is refused.
 */
export const FSCK_SETTINGS: readonly [string, string][] = [
  ['zeroPaddedFilemode', 'ignore'],
  ['missingSpaceBeforeDate', 'ignore'],
  ['badTimezone', 'ignore'],
  ['missingNameBeforeEmail', 'ignore'],
];

/**
 * Flaws of objects that old programs wrote into many public histories and that harm nobody: they are in the text of a
 * person or a time, or in how the mode of an entry is written. Pushes, imports and the weekly check all allow these.
 * Everything else that `git fsck` finds is refused: what a checkout would write elsewhere or lose, and what two readers
 * would read differently.
 */
const ALLOWED_FLAWS = [
  'zeroPaddedFilemode',
  'badTimezone',
  'badDate',
  'badDateOverflow',
  'zeroPaddedDate',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'missingNameBeforeEmail',
  'missingEmail',
  'badEmail',
  'badName',
];

/** As settings of git: `fsck` itself, `fetch.fsck` or `receive.fsck`. */
export const fsckSettings = (section: 'fsck' | 'fetch.fsck' | 'receive.fsck'): [key: string, value: string][] =>
  ALLOWED_FLAWS.map((flaw) => [`${section}.${flaw}`, 'ignore']);

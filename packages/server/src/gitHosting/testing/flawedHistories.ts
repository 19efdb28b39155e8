import type { Machine } from './gitClient.ts';

/** Objects as old programs wrote them, and as an attacker would: git itself writes none of these. */
export interface FlawedHistory {
  /** Git's name for it, or what it is. */
  flaw: string;
  /** A commit's text after `tree …`, or the entries of its tree. */
  person?: string;
  time?: string;
  message?: string;
  entries?: readonly (readonly [mode: string, name: string])[];
}

/** Accepted by a push, by an import and by the weekly check. */
export const HARMLESS: readonly FlawedHistory[] = [
  { flaw: 'zeroPaddedFilemode', entries: [['040000', 'folder']] },
  { flaw: 'badTimezone', time: '1100000000 +051800' },
  { flaw: 'badTimezone of six digits and a sign', time: '1100000000 -7200000' },
  { flaw: 'missingSpaceBeforeEmail', person: 'Old Name<old@example.com>' },
  { flaw: 'missingNameBeforeEmail', person: '<old@example.com>' },
  { flaw: 'missingSpaceBeforeDate', person: 'Old Name <old@example.com>', time: '|1100000000 +0000' },
  { flaw: 'zeroPaddedDate', time: '01100000000 +0000' },
  { flaw: 'badDate without a number', time: 'yesterday' },
  { flaw: 'badDateOverflow', time: '18446744073709551616 +0000' },
  { flaw: 'a time after the year 2514', time: '99999999999 +0000' },
  { flaw: 'missingEmail', person: 'Old Name' },
  { flaw: 'badEmail', person: 'Old Name <old<at>example.com>' },
  { flaw: 'badName', person: 'Old> Name <old@example.com>' },
  { flaw: 'badFilemode', entries: [['100664', 'group-writable.txt']] },
  { flaw: 'a name in Latin-1', entries: [['100644', 'caf\xe9.txt']] },
];

/** Refused everywhere. */
export const HARMFUL: readonly FlawedHistory[] = [
  { flaw: 'hasDotgit', entries: [['040000', '.git']] },
  { flaw: 'hasDotdot', entries: [['100644', '..']] },
  { flaw: 'hasDot', entries: [['100644', '.']] },
  { flaw: 'fullPathname', entries: [['100644', 'a/b']] },
  { flaw: 'emptyName', entries: [['100644', '']] },
  { flaw: 'gitmodulesSymlink', entries: [['120000', '.gitmodules']] },
  {
    flaw: 'duplicateEntries',
    entries: [
      ['100644', 'same'],
      ['100644', 'same'],
    ],
  },
  {
    flaw: 'treeNotSorted',
    entries: [
      ['100644', 'b'],
      ['100644', 'a'],
    ],
  },
  { flaw: 'nulInCommit', message: 'shown\0hidden' },
];

/** Writes the commit into a clone that has at least one, and answers its hash. */
export async function writeFlawed(machine: Machine, folder: string, history: FlawedHistory): Promise<string> {
  const write = async (type: 'tree' | 'commit', bytes: Buffer): Promise<string> =>
    (
      await machine.ok(['hash-object', '-t', type, '-w', '--literally', '--stdin'], { cwd: folder, inputBytes: bytes })
    ).trim();
  const [blob, whole] = (await machine.ok(['rev-parse', 'HEAD:README.md', 'HEAD^{tree}'], { cwd: folder })).split('\n');
  const { entries, person = 'Old Name <old@example.com>', time = '1100000000 +0000', message = 'old' } = history;
  const tree = entries
    ? await write(
        'tree',
        Buffer.concat(
          entries.flatMap(([mode, name]) => [
            Buffer.from(`${mode} ${name}\0`, 'latin1'),
            Buffer.from(mode === '040000' ? whole! : blob!, 'hex'),
          ]),
        ),
      )
    : whole!;
  const line = time.startsWith('|') ? `${person}${time.slice(1)}` : `${person} ${time}`;
  return await write('commit', Buffer.from(`tree ${tree}\nauthor ${line}\ncommitter ${line}\n\n${message}\n`));
}

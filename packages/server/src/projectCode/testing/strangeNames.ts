import { api } from '@stagi/contract/api.ts';
import { expect } from 'vitest';
import { visitContent } from '../../contentHost/testing/visitContent.ts';
import { runGit } from '../../git/run.ts';
import type { TestApp } from '../../testing/app.ts';
import type { Person } from '../../testing/person.ts';
import { aProjectWith, type CodeProject } from './aRepository.ts';

export type StrangeName = readonly [bytes: string | Buffer, text: string];

/** Names as bytes, and their text in calls and addresses. */
export const STRANGE_NAMES: readonly StrangeName[] = [
  [Buffer.from('caf\xe9.txt', 'latin1'), 'caf\\xE9.txt'],
  // With the one before it: both would be read as `caf\ufffd.txt`.
  [Buffer.from('caf\xe8.txt', 'latin1'), 'caf\\xE8.txt'],
  ['caf\ufffd.txt', 'caf\ufffd.txt'],
  ['café.txt', 'café.txt'],
  ['cafe\u0301.txt', 'cafe\u0301.txt'],
  [Buffer.from([0xc0, 0xae, 0xc0, 0xae]), '\\xC0\\xAE\\xC0\\xAE'],
  [Buffer.from([0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]), '\\xED\\xA0\\xBD\\xED\\xB8\\x80'],
  [Buffer.from([0x83, 0x65, 0x83, 0x58, 0x83, 0x67, 0x5c, 0x2e]), '\\x83e\\x83X\\x83g\\\\.'],
  [Buffer.from([0xf0, 0x9f, 0x98]), '\\xF0\\x9F\\x98'],
  ['back\\slash.txt', 'back\\\\slash.txt'],
  ['back\\xE9.txt', 'back\\\\xE9.txt'],
  ['line\nend', 'line\\nend'],
  ['carriage\rreturn', 'carriage\\rreturn'],
  ['line end at the end\n', 'line end at the end\\n'],
  [Buffer.from('\xff\n', 'latin1'), '\\xFF\\n'],
  ['a\ttab', 'a\\ttab'],
  ['bell\x07 and delete\x7f', 'bell\\x07 and delete\\x7F'],
  ['space at the end ', 'space at the end '],
  [' space at the beginning', ' space at the beginning'],
  ['-rf', '-rf'],
  ['--output=x', '--output=x'],
  ['"quoted"', '"quoted"'],
  ["it's", "it's"],
  ['a%2Fb', 'a%2Fb'],
  ['a#b?c&d', 'a#b?c&d'],
  [':(top)*', ':(top)*'],
  ['\ufeffmark', '\ufeffmark'],
  ['n'.repeat(255), 'n'.repeat(255)],
  [Buffer.alloc(255, 0xe9), '\\xE9'.repeat(255)],
];
const FOLDER = Buffer.from('dossier \xe0 "part"\\\n', 'latin1');
export const FOLDER_TEXT = 'dossier \\xE0 "part"\\\\\\n';
const ZERO = '0'.repeat(40);

const PERSON = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'Ada'],
    [`GIT_${who}_EMAIL`, 'ada@example.com'],
  ]),
);

const content = (n: number, version: number): string => `needle ${n} end\nversion ${version}\n`;

/** A project whose second commit changes every file, with the names at the root and in a folder with such a name. */
export async function aProjectOfNames(
  app: TestApp,
  owner: Person,
  names: readonly StrangeName[],
): Promise<CodeProject> {
  const project = await aProjectWith(app, owner, 'names', []);
  const line = async (args: string[], input?: Buffer): Promise<string> =>
    (await runGit(project.dir, args, { ...(input && { input }), env: PERSON })).stdout.toString().trim();
  const commitOf = async (version: number, parent: string | null): Promise<string> => {
    const entries: Buffer[] = [];
    for (const [n, [bytes]] of names.entries()) {
      const blob = await line(['hash-object', '-w', '--stdin'], Buffer.from(content(n, version)));
      entries.push(Buffer.from(`100644 blob ${blob}\t`), Buffer.from(bytes as string), Buffer.from([0]));
    }
    const folder = await line(['mktree', '-z'], Buffer.concat(entries));
    const root = await line(
      ['mktree', '-z'],
      Buffer.concat([...entries, Buffer.from(`040000 tree ${folder}\t`), FOLDER, Buffer.from([0])]),
    );
    return line(['commit-tree', '-m', `version ${version}`, ...(parent ? ['-p', parent] : []), root]);
  };
  const first = await commitOf(1, null);
  const second = await commitOf(2, first);
  await runGit(project.dir, ['update-ref', 'refs/heads/main', second, ZERO]);
  return { ...project, shas: [first, second] };
}

/** Opens each name below a folder by every call that takes or gives a path. */
export async function expectNamesApart(
  app: TestApp,
  owner: Person,
  project: CodeProject,
  names: readonly StrangeName[],
  folder: string,
): Promise<void> {
  const at = (path: string) => ({ id: project.id, path });
  const { entries, raw } = await owner.client(api.projectCode.tree, at(folder));
  const files = entries.filter(({ type }) => type === 'blob');
  expect(files.map(({ name }) => name).sort()).toEqual(names.map(([, text]) => text).sort());
  const { files: found } = await owner.client(api.projectCode.search, { ...at(folder), query: 'needle' });
  const { files: changed } = await owner.client(api.projectCode.commit, at(folder));
  await Promise.all(
    names.map(async ([, text], n) => {
      const path = folder === '' ? text : `${folder}/${text}`;
      const entry = files.find(({ name }) => name === text)!;
      expect(entry).toMatchObject({ path, lastCommit: { sha: project.shas[1] } });
      const blob = await owner.client(api.projectCode.blob, at(path));
      expect([path, blob.path, blob.name]).toEqual([path, path, text]);
      expect(blob.content).toEqual({ kind: 'text', text: content(n, 2) });
      expect(blob.lastCommit?.sha).toBe(project.shas[1]);
      const blame = await owner.client(api.projectCode.blame, at(path));
      expect(blame.ranges).toEqual([
        { line: 1, lines: 1, sha: project.shas[0], oldPath: null },
        { line: 2, lines: 1, sha: project.shas[1], oldPath: null },
      ]);
      const { commits } = await owner.client(api.projectCode.commits, at(path));
      expect(commits.map(({ sha }) => sha)).toEqual([project.shas[1], project.shas[0]]);
      const { files: alone } = await owner.client(api.projectCode.commit, at(path));
      for (const one of [alone[0], changed.find((file) => file.path === path)]) {
        expect(one).toMatchObject({ path, status: 'modified', additions: 1, deletions: 1, isBinary: false });
        expect(one!.patch).toContain('-version 1\n+version 2\n');
      }
      expect(alone).toHaveLength(1);
      expect(found.find((file) => file.path === path)?.lines[0]?.text).toBe(`needle ${n} end`);
      const searched = await owner.client(api.projectCode.search, { ...at(path), query: 'needle' });
      expect(searched.files.map((file) => file.path)).toEqual([path]);
      const link = `${raw!.link}${path.split('/').map(encodeURIComponent).join('/')}`;
      expect(await visitContent(app, link)).toMatchObject({ status: 200, body: Buffer.from(content(n, 2)) });
    }),
  );
  const byPath = await owner.client(api.projectCode.search, { ...at(folder), query: 'caf\\xE9' });
  expect(byPath.paths).toContain(folder === '' ? 'caf\\xE9.txt' : `${folder}/caf\\xE9.txt`);
}

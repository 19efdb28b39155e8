import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import type { CodeProject } from './testing/aRepository.ts';
import { aProjectOfNames, expectNamesApart, FOLDER_TEXT, STRANGE_NAMES } from './testing/strangeNames.ts';

/** Two of Latin-1, Shift JIS, a backslash, a line end; `names.long.test.ts` has all. */
const NAMES = [0, 1, 7, 9, 11].map((n) => STRANGE_NAMES[n]!);

let app: TestApp;
let owner: Person;
let project: CodeProject;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  owner = await app.signUp('Ada');
  project = await aProjectOfNames(app, owner, NAMES);
});
afterAll(() => app?.close());

it('tells names apart by their bytes and opens each', async () => {
  await expectNamesApart(app, owner, project, NAMES, FOLDER_TEXT);
  console.log(`names that are bytes: n = ${NAMES.length}`);
});

it('tells branches and tags apart by their bytes, and opens each', async () => {
  const sha = project.shas.at(-1)!;
  const names: [kind: 'branch' | 'tag', bytes: Buffer, text: string][] = [
    ['branch', Buffer.from('caf\xe9', 'latin1'), 'caf\\xE9'],
    ['branch', Buffer.from('caf\xe8', 'latin1'), 'caf\\xE8'],
    ['branch', Buffer.from('café'), 'café'],
    ['branch', Buffer.from('fix/\x83e\x83X', 'latin1'), 'fix/\\x83e\\x83X'],
    ['tag', Buffer.from('v1-\xfc', 'latin1'), 'v1-\\xFC'],
    ['tag', Buffer.from('版本-1'), '版本-1'],
  ];
  const folders = { branch: 'refs/heads/', tag: 'refs/tags/' };
  const lines = names.flatMap(([kind, bytes]) => [Buffer.from(`${sha} ${folders[kind]}`), bytes, Buffer.from('\n')]);
  await appendFile(join(project.dir, 'packed-refs'), Buffer.concat(lines));
  for (const [kind, , text] of names) {
    const { refs } = await owner.client(api.projectCode.refs, { id: project.id, kind });
    expect(refs.map(({ name }) => name)).toContain(text);
    const { commits } = await owner.client(api.projectCode.commits, { id: project.id, branch: text });
    expect([text, commits[0]?.sha]).toEqual([text, sha]);
  }
  for (const branch of ['caf\\xE7', 'caf\\x65', 'caf\\\\', 'caf\uFFFD'])
    await expect(owner.client(api.projectCode.commits, { id: project.id, branch })).rejects.toMatchObject({
      status: 404,
    });
  console.log(`names of branches and tags that are bytes: n = ${names.length}`);
});

import { afterAll, beforeAll, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import type { CodeProject } from './testing/aRepository.ts';
import { aProjectOfNames, expectNamesApart, FOLDER_TEXT, STRANGE_NAMES } from './testing/strangeNames.ts';

let app: TestApp;
let owner: Person;
let project: CodeProject;
beforeAll(async () => {
  app = await startTestApp({}, { role: 'api' });
  owner = await app.signUp('Ada');
  project = await aProjectOfNames(app, owner, STRANGE_NAMES);
});
afterAll(() => app?.close());

it.each([
  ['at the root', ''],
  ['in a folder', FOLDER_TEXT],
])('tells names apart by their bytes and opens each, %s', { timeout: 60_000 }, async (where, folder) => {
  await expectNamesApart(app, owner, project, STRANGE_NAMES, folder);
  console.log(`names that are bytes, ${where}: n = ${STRANGE_NAMES.length}`);
});

import { afterAll, beforeAll, it } from 'vitest';
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

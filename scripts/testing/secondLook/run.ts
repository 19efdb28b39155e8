import { join } from 'node:path';
import { add, noResults } from '../../results.ts';
import { lookAgain } from '../../secondLook.ts';
import { runStories, runUnitTests } from '../../suites.ts';
import { endWith } from '../../tiers.ts';

/** As the gate: runs the named cases, looks again at those that failed, and ends as the gate would. */
const paths = process.argv.slice(2).map((name) => join(import.meta.dirname, name));
const stories = paths.filter((path) => path.endsWith('.storyCase.ts'));
const tests = paths.filter((path) => !stories.includes(path));
// Its cases need no Docker, and what other tests made there is not this run's to remove.
const withoutDocker = 'not needed';
const since = new Date();
const results = noResults();
if (tests.length > 0) add(results, await runUnitTests({ projects: ['unit'], paths: tests }));
if (stories.length > 0) add(results, await runStories({ projects: ['browser'], paths: stories }));
endWith(await lookAgain(results, since, withoutDocker));

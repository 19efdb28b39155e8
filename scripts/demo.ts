import { join } from 'node:path';
import { provideTestPrograms } from './packages.ts';
import { listenForStop, ROOT, run } from './run.ts';
import { buildForStories } from './suites.ts';

// Records the answers that /stagi-demo shows, and checks that they fit the contract.
listenForStop();
provideTestPrograms();
await buildForStories();
const code = await run(process.execPath, [join(ROOT, 'e2e/demo/recordDemo.ts')]);
const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
process.exit(code || (await run(process.execPath, [vitest, 'run', 'packages/web/src/demo'])));

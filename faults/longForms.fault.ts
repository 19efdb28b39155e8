import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Tests that are shorter in `npm run test:long`, in full: each file that asks `howMany`. */
const ROOT = join(import.meta.dirname, '..');
const files = globSync(['packages/*/src/**/*.test.ts', 'faults/**/*.test.ts'], { cwd: ROOT }).filter((file) =>
  readFileSync(join(ROOT, file), 'utf8').includes('testing/howMany.ts'),
);
if (files.length === 0) throw new Error('No test asks howMany');
console.log(`long forms: n = ${files.length} files`);
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...files], {
  cwd: ROOT,
  env: { ...process.env, LONG_FORMS: '1' },
  stdio: 'inherit',
});
process.exit(status ?? 1);

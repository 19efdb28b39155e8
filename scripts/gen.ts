import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CALL_LIST, callList, changesOfCalls } from './callList.ts';
import { EXPRESSION_LIST, writeExpressions } from './expressions.ts';
import { ROOT, runQuietly } from './run.ts';

// `npm run gen` writes the list of calls, and that of expressions, of which it judges new ones (`-- --all`: each).
// `-- --against <commit>` prints which calls are others than at that commit.
const at = process.argv.indexOf('--against');
if (at < 0) {
  writeFileSync(join(ROOT, CALL_LIST), callList());
  console.log(`wrote ${CALL_LIST}`);
  const count = await writeExpressions({ all: process.argv.includes('--all') });
  console.log(`wrote ${EXPRESSION_LIST}: n = ${count}`);
  process.exit(0);
} else {
  const commit = process.argv[at + 1] ?? 'HEAD';
  const { code, output } = await runQuietly('git', ['show', `${commit}:${CALL_LIST}`]);
  if (code !== 0) {
    console.error(output.trim());
    process.exit(1);
  }
  const changes = changesOfCalls(output, callList());
  console.log(changes.length > 0 ? changes.join('\n') : `No call is another than at ${commit}.`);
}

/**
 * Engines of served models that answer what they should not: no HTTP, no events, no end, too much, too slowly, or nothing.
 * Each call ends in time with an ordinary refusal or an error event, the platform stays small, and other calls go on.
 */
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { WITH_SLOW } from './engines/corpus.ts';
import { formatEngines, reportEngines, runEngines } from './engines/run.ts';

const postgres = await startTestPostgres();
const result = await runEngines(WITH_SLOW, console.log).finally(() => postgres.stop());
console.log(`engines: ${formatEngines(result)}`);
const failures = reportEngines(result);
for (const failure of failures) console.log(`FAILED: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);

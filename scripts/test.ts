import { runTier } from './tiers.ts';

// `npm test` runs the checks and the gate's tests; `npm test -- path …` every test whose file matches.
await runTier('gate', process.argv.slice(2));

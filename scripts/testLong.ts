import { runTier } from './tiers.ts';

// `npm run test:long` runs every test that `npm test` leaves out; `-- path …` those of them whose files match.
await runTier('long', process.argv.slice(2));

/**
 * How much of something a test does: `short` in `npm run test:long`, `full` in `npm run faults -- longForms`, which runs every
 * test file that asks here.
 */
export const howMany = (short: number, full: number): number => (process.env.LONG_FORMS === '1' ? full : short);

import { startTestPostgres } from '@stagi/server/src/testing/database.ts';

/** The PostgreSQL that the platforms of all stories share, each with a database of its own in it. */
export default async function setUp(): Promise<() => Promise<void>> {
  const { stop } = await startTestPostgres({ inMemory: true });
  return stop;
}

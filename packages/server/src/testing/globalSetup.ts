import { startTestPostgres } from './database.ts';

export default async function setup() {
  const { stop } = await startTestPostgres({ inMemory: true });
  return stop;
}

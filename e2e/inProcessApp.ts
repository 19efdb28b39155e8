import type { TestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';

/** An app in the process of its stories, which may look into its database, on a database of its own. */
export async function withOwnDatabase<App extends TestApp>(
  start: () => Promise<App>,
): Promise<{ app: App; stop(): Promise<void> }> {
  const postgres = await startTestPostgres();
  const app = await start();
  return {
    app,
    async stop() {
      await app.close();
      await postgres.stop();
    },
  };
}

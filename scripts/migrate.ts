import { openInstallation } from '../packages/server/src/installation/open.ts';
import { failStart, readProcessConfig } from '../packages/server/src/main.ts';
import { withDatabaseUrl } from './database.ts';

/** Migrates the database, as a start would, and ends. A platform that runs goes on. */
try {
  const config = readProcessConfig();
  const { migrations } = await withDatabaseUrl(config, (url) => openInstallation(url, config));
  for (const { name, ms } of migrations) console.log(`${name}  ${(ms / 1000).toFixed(1)} s`);
  console.log(migrations.length > 0 ? `Database migrated: ${migrations.length} new` : 'Database up to date');
} catch (error) {
  failStart(error);
}

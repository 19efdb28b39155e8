import type { Config } from '../config/config.ts';
import { checkDatabase } from './checkDatabase.ts';
import { checkFolder } from './checkFolder.ts';
import { checkMail } from './checkMail.ts';
import { checkNames } from './checkNames.ts';
import { checkPrograms } from './checkPrograms.ts';
import { checkProviders } from './checkProviders.ts';
import { checkStores } from './checkStores.ts';
import type { Finding } from './finding.ts';

/**
 * Reaches all that the configuration names, whether the platform runs or not. Changes nothing, but for an object that it
 * writes to each S3 location and removes.
 */
export async function checkPlatform(config: Config): Promise<Finding[]> {
  const found = await Promise.all([
    checkFolder(config),
    checkDatabase(config),
    checkStores(config),
    checkPrograms(config),
    checkMail(config),
    checkProviders(config),
    checkNames(config),
  ]);
  return found.flat();
}

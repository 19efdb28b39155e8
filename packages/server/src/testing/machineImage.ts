import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { pino } from 'pino';
import { createMachineImage } from '../providers/local/image.ts';

/**
 * Begins to build the machine image of the local cloud, where it is missing: the tests that need one find it, or wait for
 * what is left of the build. `stop` aborts a build in progress.
 */
export async function buildMachineImageAhead(): Promise<{ stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'stagi-machine-image-'));
  const image = createMachineImage({ docker: new Docker(), log: pino({ level: 'warn' }), dataDir });
  await image.state();
  return {
    async stop() {
      await image.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

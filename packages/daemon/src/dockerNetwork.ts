import { CONTAINER_NETWORK } from '@stagi/contract/hostConfig.ts';
import { text } from '@stagi/contract/text.ts';
import type Docker from 'dockerode';
import { DockerError, statusOf, toDockerError } from './dockerErrors.ts';
import { withTimeout } from './timing.ts';

const TIMEOUT_MS = 30_000;
/** Fixed, for rules of the firewall. It can be used once: two that create the network at a time make one. */
export const BRIDGE = 'stagi0';
const ICC = 'com.docker.network.bridge.enable_icc';

/**
 * Creates the network of our containers if it is missing: it is asked for before each start, as `docker system prune`
 * removes it while all of them are stopped. One for all, as Docker's address pools end at about 30 networks.
 */
export async function ensureNetwork(docker: Docker): Promise<void> {
  if (await isThere(docker)) return;
  try {
    await withTimeout(TIMEOUT_MS, 'creating the network of containers', (abortSignal) =>
      docker.createNetwork({
        Name: CONTAINER_NETWORK,
        CheckDuplicate: true,
        Driver: 'bridge',
        EnableIPv6: false,
        Options: { 'com.docker.network.bridge.name': BRIDGE, [ICC]: 'false' },
        abortSignal,
      }),
    );
  } catch (error) {
    // Another daemon of this server may have been faster.
    if (!(await isThere(docker))) throw toDockerError(error, '');
  }
}

async function isThere(docker: Docker): Promise<boolean> {
  try {
    const { Driver, EnableIPv6, Options } = await withTimeout(TIMEOUT_MS, 'looking for the network', () =>
      docker.getNetwork(CONTAINER_NETWORK).inspect(),
    );
    if (Driver === 'bridge' && !EnableIPv6 && Options?.[ICC] === 'false') return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw toDockerError(error, '');
  }
  throw new DockerError(
    text('The server has a Docker network named {{name}} that is none of ours: remove it', { name: CONTAINER_NETWORK }),
    false,
  );
}

import { join } from 'node:path';

/** Every file of the daemon. */
export interface Paths {
  config: string;
  state: string;
  key: string;
  identity: string;
  policy: string;
  desired: string;
  journal: string;
  containerRecords: string;
  terminals: string;
  usedImages: string;
  uploads: string;
  /** Folders that directories of containers are bound to: in memory, so that a boot ends them. */
  volumes: string;
  authorizedKeys: string;
}

/**
 * `STAGI_CONFIG_DIR`, `STAGI_STATE_DIR`, `STAGI_RUN_DIR` and `STAGI_AUTHORIZED_KEYS` move the daemon out of the system's
 * folders.
 */
export function pathsFrom(env: NodeJS.ProcessEnv): Paths {
  const config = env.STAGI_CONFIG_DIR ?? '/etc/stagi';
  const state = env.STAGI_STATE_DIR ?? '/var/lib/stagi';
  return {
    config,
    state,
    key: join(config, 'node.key'),
    identity: join(config, 'identity.json'),
    policy: join(config, 'policy.json'),
    desired: join(state, 'desired.jws'),
    journal: join(state, 'commands.jsonl'),
    containerRecords: join(state, 'containers.json'),
    terminals: join(state, 'terminals.json'),
    usedImages: join(state, 'images.json'),
    uploads: join(state, 'uploads.json'),
    volumes: join(env.STAGI_RUN_DIR ?? '/run/stagi', 'volumes'),
    authorizedKeys: env.STAGI_AUTHORIZED_KEYS ?? '/root/.ssh/authorized_keys',
  };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../packages/server/src/main.ts');
/** A compile cache, as the same code is started many times. */
const COMPILED = join(import.meta.dirname, '../../.cache/fault-code');

/** A data directory with the checksum of a daemon build, for code that reads only that. */
export function aFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `stagi-${name}-`));
  mkdirSync(join(folder, 'daemon'));
  writeFileSync(join(folder, 'daemon/stagid-linux-x64.tar.gz.sha256'), `${'0'.repeat(64)}  stagid-linux-x64.tar.gz\n`);
  return folder;
}

export interface PlatformOptions {
  environment: string;
  folder: string;
  port: number;
  databaseUrl: string;
  cloudUrl: string;
  role?: 'api' | 'worker';
  env?: Record<string, string>;
}

/** The platform as a separate process, with only the simulated cloud. */
export function spawnPlatform(options: PlatformOptions): ChildProcess {
  const { environment, folder, port, databaseUrl, cloudUrl, role, env } = options;
  return spawn(process.execPath, [MAIN, ...(role ? [`--role=${role}`] : [])], {
    env: {
      ...process.env,
      PORT: String(port),
      METRICS_PORT: 'off',
      S3_PORT: '0',
      GIT_SSH_PORT: '0',
      DATABASE_URL: databaseUrl,
      STAGI_DATA: folder,
      STAGI_DAEMON_DIR: join(folder, 'daemon'),
      LOCAL_CLOUD: 'off',
      FAKE_CLOUD_URL: cloudUrl,
      STAGI_ENVIRONMENT: environment,
      STARTER_CREDIT: '5000',
      LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'fatal',
      NODE_COMPILE_CACHE: COMPILED,
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const DEBIAN = 'stagi-test-debian:bookworm';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
/** On everything that the tests of this process build. */
export const LABEL = `cloud.stagi.test=${randomUUID()}`;
/** Names of settings that may say where packages come from. */
const NPM_SETTINGS = ['registry', 'cafile', 'proxy', 'https-proxy', 'noproxy'];

export const docker = async (...args: string[]): Promise<string> => {
  const env = { ...process.env, DOCKER_BUILDKIT: '0' };
  return (await run('docker', args, { env, maxBuffer: 256e6 })).stdout;
};

/** Why images cannot be made here; null where they can. */
export const withoutImages = (): string | null =>
  process.getuid?.() === 0 ? null : 'only root makes a Debian without a registry';

/** Debian's smallest, made of its packages. Stays, as other test images do. Returns its name. */
export async function ensureDebian(): Promise<string> {
  if ((await docker('images', '-q', DEBIAN)).trim()) return DEBIAN;
  const root = mkdtempSync(join(tmpdir(), 'stagi-debian-'));
  try {
    await run('debootstrap', ['--variant=minbase', 'bookworm', root], { maxBuffer: 64e6 });
    rmSync(join(root, 'var/cache/apt/archives'), { recursive: true });
    mkdirSync(join(root, 'var/cache/apt/archives/partial'), { recursive: true });
    await importFolder(root, DEBIAN, ['CMD ["/bin/sh"]']);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return DEBIAN;
}

/** The same with this machine's Node and npm, and with its ways to the registry of npm. */
export async function makeBuildImage(name: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-build-image-'));
  try {
    const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())));
    copyFileSync(process.execPath, join(folder, 'node'));
    cpSync(npm, join(folder, 'npm'), { recursive: true, dereference: true });
    copyFileSync(CERTIFICATES, join(folder, 'machine.crt'));
    const settings = NPM_SETTINGS.flatMap((setting) => {
      const value = execFileSync('npm', ['config', 'get', setting], { cwd: ROOT, encoding: 'utf8' }).trim();
      return ['null', 'undefined', ''].includes(value) || setting === 'cafile'
        ? []
        : [`ENV npm_config_${setting.replace('-', '_')}=${value}`];
    });
    const lines = [
      `FROM ${await ensureDebian()}`,
      'COPY node /usr/local/bin/node',
      'COPY npm /usr/local/lib/node_modules/npm',
      'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
      'COPY machine.crt /usr/local/share/machine.crt',
      'ENV NODE_EXTRA_CA_CERTS=/usr/local/share/machine.crt npm_config_cafile=/usr/local/share/machine.crt',
      ...settings,
    ];
    writeFileSync(join(folder, 'Dockerfile'), lines.join('\n'));
    await docker('build', '-q', '--label', LABEL, '-t', name, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As `postgres` and `nginx` of a registry, as far as compose.yaml goes: users, folders and settings are those. */
export async function makeServiceImage(name: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stagi-service-image-'));
  try {
    const script = [
      '#!/bin/sh',
      'set -eu',
      'PATH=/usr/lib/postgresql/15/bin:$PATH',
      'data=/var/lib/postgresql/data',
      'as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }',
      'chown postgres $data',
      'chmod 700 $data',
      'if [ ! -s $data/PG_VERSION ]; then',
      '  echo "$POSTGRES_PASSWORD" > /tmp/password',
      '  as initdb -D $data -U "$POSTGRES_USER" -E UTF8 -A scram-sha-256 --pwfile=/tmp/password',
      '  echo "host all all all scram-sha-256" >> $data/pg_hba.conf',
      `  echo "create database $POSTGRES_DB" | as postgres --single -D $data postgres`,
      'fi',
      "exec setpriv --reuid=postgres --regid=postgres --clear-groups postgres -D $data -c listen_addresses='*' -c unix_socket_directories=/tmp",
    ];
    writeFileSync(join(folder, 'postgres.sh'), `${script.join('\n')}\n`);
    chmodSync(join(folder, 'postgres.sh'), 0o755);
    const packages = 'nginx-light libnginx-mod-stream postgresql-15';
    const lines = [
      `FROM ${await ensureDebian()}`,
      `RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${packages}`,
      'RUN useradd --system nginx && ln -sf /dev/stderr /var/log/nginx/error.log',
      // The folders of an official nginx.
      'RUN rm -r /var/lib/nginx && ln -s /var/cache/nginx /var/lib/nginx',
      'COPY postgres.sh /usr/local/bin/postgres.sh',
    ];
    writeFileSync(join(folder, 'Dockerfile'), lines.join('\n'));
    await docker('build', '-q', '--network', 'host', '--label', LABEL, '-t', name, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The working tree as it is, without what git ignores. */
export async function copyWorkingTree(folder: string): Promise<void> {
  const script =
    'git ls-files -coz --exclude-standard | tar -c --null --files-from=- --ignore-failed-read | tar -x -C "$1"';
  await run('bash', ['-o', 'pipefail', '-c', script, 'sh', folder], { cwd: ROOT });
}

async function importFolder(root: string, name: string, changes: readonly string[]): Promise<void> {
  const options = changes.flatMap((change) => ['--change', change]);
  const script = 'name=$1; root=$2; shift 2; tar -C "$root" --one-file-system -c . | docker import "$@" - "$name"';
  await run('bash', ['-o', 'pipefail', '-c', script, 'sh', name, root, ...options]);
}

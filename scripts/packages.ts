import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const PATHS = [...(process.env.PATH ?? '').split(':'), '/usr/local/sbin', '/usr/sbin', '/sbin'];
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
/** A library of the distribution's own Python. */
const BOTO3 = '/usr/lib/python3/dist-packages/boto3';

/** The Debian package that brings each program the tests call. */
const PROGRAMS: Record<string, string> = {
  dockerd: 'docker.io',
  docker: 'docker-cli',
  'docker-registry': 'docker-registry',
  chromium: 'chromium',
  debootstrap: 'debootstrap',
  ip: 'iproute2',
  iptables: 'iptables',
  busybox: 'busybox-static',
  ssh: 'openssh-client',
  'ssh-keygen': 'openssh-client',
  git: 'git',
  curl: 'curl',
  ps: 'procps',
  unshare: 'util-linux',
  xz: 'xz-utils',
  zstdcat: 'zstd',
  aws: 'awscli',
  rclone: 'rclone',
  s3cmd: 's3cmd',
  restic: 'restic',
  s3fs: 's3fs',
  [BOTO3]: 'python3-boto3',
  [CERTIFICATES]: 'ca-certificates',
};

/** The same for tests that only `npm run test:long` runs, or whose path is named. */
const LONG_PROGRAMS: Record<string, string> = {
  nginx: 'nginx-light',
  '/usr/lib/nginx/modules/ngx_stream_module.so': 'libnginx-mod-stream',
  openssl: 'openssl',
  'systemd-analyze': 'systemd',
  'docker-compose': 'docker-compose',
};

export const has = (program: string) =>
  program.startsWith('/') ? existsSync(program) : PATHS.some((path) => existsSync(join(path, program)));

/** Installs what the tests call and this machine lacks; where that is not possible, says what to install and goes on. */
export function provideTestPrograms({ long = false } = {}) {
  const programs = { ...PROGRAMS, ...(long && LONG_PROGRAMS) };
  // docker.io brings the client along on Debian 12 and has it in a package of its own later, so that one comes second.
  install(Object.keys(programs).filter((program) => program !== 'docker' && !has(program)));
  install(['docker'].filter((program) => !has(program)));
}

function install(programs: string[]) {
  const packages = [...new Set(programs.map((program) => (PROGRAMS[program] ?? LONG_PROGRAMS[program])!))];
  if (packages.length === 0) return;
  const command = ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages];
  if (process.getuid?.() !== 0 || !has('apt-get')) {
    console.log(`Missing here: ${programs.join(', ')}. Install with: sudo ${command.join(' ')}`);
    return;
  }
  console.log(`Installing ${packages.join(', ')} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  spawnSync('apt-get', ['update', '-qq'], { stdio: ['ignore', 'ignore', 'inherit'], env });
  const { status } = spawnSync(command[0]!, command.slice(1), { stdio: ['ignore', 'ignore', 'inherit'], env });
  if (status !== 0) console.log(`Could not install ${packages.join(', ')}: see above.`);
}

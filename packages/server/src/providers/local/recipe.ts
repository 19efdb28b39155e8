import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const baseImage = 'debian:bookworm-slim';
export const suite = 'bookworm';
/** The path of the machine's PID 1 inside the image. */
export const initPath = '/usr/local/sbin/stagi-init';

export const packages = [
  'openssh-server',
  'docker.io',
  'iptables',
  'git',
  'ca-certificates',
  'curl',
  'iproute2',
  'procps',
  'libatomic1',
  'less',
  'nano',
  'xz-utils',
  'zstd',
];

export const initScript = script('machine-init.sh');
/** Runs inside the new root file system after the packages are installed. */
export const finishScript = script('machine-finish.sh');

/** debootstrap writes only one source, without security updates. */
export const aptSources = [
  `deb http://deb.debian.org/debian ${suite} main`,
  `deb http://deb.debian.org/debian ${suite}-updates main`,
  `deb http://deb.debian.org/debian-security ${suite}-security main`,
  '',
].join('\n');

/** For Docker's classic builder, which every Docker Engine has. */
export const dockerfile = [
  `FROM ${baseImage}`,
  `COPY stagi-init ${initPath}`,
  'COPY finish /tmp/finish',
  'RUN apt-get update' +
    ` && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${packages.join(' ')}` +
    ' && sh /tmp/finish && rm /tmp/finish',
  '',
].join('\n');

/** A hash of everything the image is made from, so that a changed recipe makes another image. */
export const imageTag = `stagi-machine:${createHash('sha256')
  .update(JSON.stringify([dockerfile, initScript, finishScript, aptSources]))
  .digest('hex')
  .slice(0, 16)}`;

function script(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8');
}

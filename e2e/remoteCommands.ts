import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { until } from './waitUntil.ts';

const run = promisify(execFile);

/** Runs a program to its end; fails with what it wrote when it fails. */
export async function sh(command: string, args: string[], timeoutMs = 60_000): Promise<string> {
  const { stdout } = await run(command, args, { timeout: timeoutMs, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** A command on a machine, by SSH with a key, as its renter does it. */
export function ssh(
  keyFile: string,
  user: string,
  ip: string,
  command: string,
  stdinFile = '/dev/null',
): Promise<string> {
  const options = [
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'LogLevel=ERROR',
    '-o',
    'BatchMode=yes',
    '-o',
    'ConnectTimeout=5',
  ];
  return sh('sh', [
    '-c',
    'file=$1; shift; exec ssh "$@" < "$file"',
    'sh',
    stdinFile,
    ...options,
    '-i',
    keyFile,
    `${user}@${ip}`,
    command,
  ]);
}

export const TINY_IMAGE = 'tiny:1';

/** A root file system of one static busybox, as a tar file: no registry can be asked here. */
export async function tinyRootfs(): Promise<string> {
  const script = `set -e
    busybox=$(command -v busybox) || { echo 'busybox-static is not installed' >&2; exit 1; }
    root=$(mktemp -d); mkdir -p "$root/bin" "$root/tmp"; cp "$busybox" "$root/bin/busybox"
    for applet in sh date sleep usleep echo cat true httpd mkdir; do ln -s busybox "$root/bin/$applet"; done
    tar -C "$root" -c . > "$root.tar"; rm -rf "$root"; echo "$root.tar"`;
  return sh('sh', ['-c', script]);
}

/** Containers, volumes and processes of one environment's machines that are still there. */
export async function leftovers(environment: string): Promise<string[]> {
  const filter = ['--filter', `label=cloud.stagi.environment=${environment}`];
  const [containers, volumes] = await Promise.all([
    sh('docker', ['ps', '-a', ...filter, '--format', 'container {{.Names}}']),
    sh('docker', ['volume', 'ls', ...filter, '--format', 'volume {{.Name}}']),
  ]);
  return [containers, volumes].flatMap((lines) => lines.split('\n')).filter(Boolean);
}

/** How many machines stand in a network; the cloud's own goes when the platform stops. */
export function guests(network: string): Promise<string> {
  return sh('docker', ['network', 'inspect', '-f', '{{len .Containers}}', network]);
}

export function networks(environment: string): Promise<string> {
  return sh('docker', ['network', 'ls', '-q', '--filter', `label=cloud.stagi.environment=${environment}`]);
}

export async function removeLeftovers(environment: string): Promise<void> {
  const left = await leftovers(environment);
  for (const line of left) {
    const [kind, name] = line.split(' ');
    if (kind === 'container' && name) await sh('docker', ['rm', '-f', '-v', name]);
  }
  for (const line of left) {
    const [kind, name] = line.split(' ');
    if (kind === 'volume' && name) await sh('docker', ['volume', 'rm', '-f', name]);
  }
  await until('the network of the machines is empty', 10_000, async () => (await leftovers(environment)).length === 0);
}

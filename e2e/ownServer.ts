import { sh } from './remoteCommands.ts';
import { until } from './waitUntil.ts';

/** The engine shows a container its cgroups read-only, of either version; a nested engine needs its own below them. */
const START = `
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    mount -o remount,bind,rw /sys/fs/cgroup; mkdir -p /sys/fs/cgroup/init
    for pid in $(cat /sys/fs/cgroup/cgroup.procs); do echo $pid > /sys/fs/cgroup/init/cgroup.procs || true; done
    for name in $(cat /sys/fs/cgroup/cgroup.controllers); do echo +$name > /sys/fs/cgroup/cgroup.subtree_control || true; done
  else
    for hierarchy in /sys/fs/cgroup/*/; do mount -o remount,bind,rw $hierarchy; done
  fi
  iptables -w -nL >/dev/null 2>&1 || update-alternatives --set iptables /usr/sbin/iptables-legacy
  exec dockerd`;
const IMAGE = 'stagi-test-own-server:1';

/** Somebody's own server: a system container with Docker, git, curl and ca-certificates, and nothing of ours. */
export interface OwnServer {
  name: string;
  run(command: string): Promise<string>;
  copyIn(file: string, to: string): Promise<void>;
  /** Ends the daemon and what would start it again, at once. */
  killDaemon(): Promise<number>;
  startDaemon(): Promise<void>;
  remove(): Promise<void>;
}

export async function startOwnServer(name: string, network: string): Promise<OwnServer> {
  await ensureImage();
  const inside = (command: string): Promise<string> =>
    sh('docker', ['exec', '-w', '/root', name, 'sh', '-c', command], 180_000);
  const remove = async (): Promise<void> => {
    await sh('docker', ['rm', '-f', '-v', name]).catch(() => {});
    await sh('docker', ['volume', 'rm', '-f', `${name}-docker`]);
  };
  await remove();
  await sh('docker', [
    ...['run', '-d', '--init', '--name', name, '--network', network, '-v', `${name}-docker:/var/lib/docker`],
    ...[
      '--cap-add',
      'SYS_ADMIN',
      '--cap-add',
      'NET_ADMIN',
      '--security-opt',
      'seccomp=unconfined',
      '--security-opt',
      'apparmor=unconfined',
    ],
    ...['--security-opt', 'systempaths=unconfined', '--cgroupns=private', '--tmpfs', '/run'],
    ...[IMAGE, 'sh', '-c', START],
  ]);
  await until('Docker runs on the own server', 30_000, () =>
    inside('docker info >/dev/null 2>&1 && echo yes').catch(() => false as const),
  );
  return {
    name,
    run: inside,
    remove,
    copyIn: async (file, to) => void (await sh('docker', ['cp', file, `${name}:${to}`])),
    async killDaemon() {
      const processes = (await sh('docker', ['top', name, '-eo', 'pid,args']))
        .split('\n')
        .filter((line) => /stagi/.test(line));
      for (const line of processes) process.kill(Number(line.trim().split(/\s+/)[0]), 'SIGKILL');
      return processes.length;
    },
    startDaemon: async () => void (await sh('docker', ['exec', '-d', name, '/etc/stagi/start'])),
  };
}

async function ensureImage(): Promise<void> {
  const there = await sh('docker', ['image', 'inspect', '-f', 'ok', IMAGE]).catch(() => '');
  if (there === 'ok') return;
  const script = `set -e
    root=$(mktemp -d); trap 'rm -rf "$root"' EXIT
    debootstrap --variant=minbase --include=docker.io,iptables,git,curl,ca-certificates bookworm "$root" >/dev/null
    tar -C "$root" -c . | docker import - ${IMAGE}`;
  await sh('sh', ['-c', script], 300_000);
}

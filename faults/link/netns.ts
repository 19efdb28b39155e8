import { execFileSync } from 'node:child_process';

/**
 * A network namespace with a veth pair to this machine, for faults that only a kernel can make: lost packets, low
 * bandwidth.
 */
export interface NetworkNamespace {
  /** The address of this machine inside of the namespace. */
  address: string;
  /** A command prefix: runs the command inside of the namespace. */
  wrapper: string[];
  /** Drops every packet silently, in both directions. */
  drop(): void;
  /** Limits the outgoing bandwidth. */
  shape(bitsPerSecond: number): void;
  /** Removes all faults. */
  fair(): void;
  remove(): void;
}

let made = 0;

/** Returns the reason instead of throwing when there can be none: it needs root and kernel support. */
export function makeNetworkNamespace(): NetworkNamespace | { reason: string } {
  made += 1;
  const name = `stagi-${process.pid}-${made}`;
  const [near, far] = [`sn${process.pid % 100_000}-${made}`, `sf${process.pid % 100_000}-${made}`];
  const net = `10.213.${process.pid % 250}`;
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });
  const inside = (...args: string[]) => execFileSync('ip', ['netns', 'exec', name, ...args], { stdio: 'pipe' });
  const remove = () => {
    // Deleting one end deletes the veth pair.
    execFileSync('sh', ['-c', `ip netns del ${name}; ip link del ${near}; true`], { stdio: 'ignore' });
  };
  try {
    ip('netns', 'add', name);
    ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
    ip('addr', 'add', `${net}.${made * 4 + 1}/30`, 'dev', near);
    ip('link', 'set', near, 'up');
    inside('ip', 'addr', 'add', `${net}.${made * 4 + 2}/30`, 'dev', far);
    inside('ip', 'link', 'set', far, 'up');
    inside('ip', 'link', 'set', 'lo', 'up');
    inside('iptables', '-L');
  } catch (error) {
    remove();
    return { reason: String((error as { stderr?: Buffer }).stderr ?? error).trim() };
  }
  let isShaped = false;
  return {
    address: `${net}.${made * 4 + 1}`,
    wrapper: ['ip', 'netns', 'exec', name],
    drop() {
      for (const chain of ['INPUT', 'OUTPUT']) inside('iptables', '-A', chain, '-j', 'DROP');
    },
    shape(bitsPerSecond) {
      const rate = ['rate', `${bitsPerSecond}bit`, 'burst', '2kb', 'latency', '500ms'];
      inside('tc', 'qdisc', 'replace', 'dev', far, 'root', 'tbf', ...rate);
      isShaped = true;
    },
    fair() {
      inside('iptables', '-F');
      if (isShaped) inside('tc', 'qdisc', 'del', 'dev', far, 'root');
      isShaped = false;
    },
    remove,
  };
}

import { execFileSync } from 'node:child_process';

/** A network namespace with one wire to this machine, for faults that only a kernel makes: lost packets, a slow line. */
export interface NetworkNamespace {
  /** Of this machine, as seen from inside. */
  address: string;
  /** Put in front of a command, it runs inside. */
  wrapper: string[];
  /** Every packet is lost, both ways, and nobody is told. */
  drop(): void;
  /** At most so many bits a second leave it. */
  shape(bitsPerSecond: number): void;
  /** Nothing is lost or slowed any more. */
  fair(): void;
  remove(): void;
}

let made = 0;

/** Answers why there can be none here instead of throwing: it takes root and a kernel that lets one make them. */
export function makeNetworkNamespace(): NetworkNamespace | { reason: string } {
  made += 1;
  const name = `stagi-${process.pid}-${made}`;
  const [near, far] = [`sn${process.pid % 100_000}-${made}`, `sf${process.pid % 100_000}-${made}`];
  const net = `10.213.${process.pid % 250}`;
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' });
  const inside = (...args: string[]) => execFileSync('ip', ['netns', 'exec', name, ...args], { stdio: 'pipe' });
  const remove = () => {
    // Its end of the wire, and so the wire, goes with it.
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

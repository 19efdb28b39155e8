import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type Dockerode from 'dockerode';
import { callDocker, fallbackOnStatus, statusCode } from './docker.ts';

export interface MachineNetwork {
  name: string;
  /** This machine's own address in it: where machines reach the platform. */
  gateway: string;
}

export function networkName(environment: string): string {
  return `stagi-${environment}`;
}

/** The network of the environment's machines; created when missing. */
export async function ensureNetwork(docker: Dockerode, environment: string): Promise<MachineNetwork> {
  const found = await findNetwork(docker, environment);
  if (found) return found;
  const routes = parseRoutes(await readFile('/proc/net/route', 'utf8'));
  for (const third of subnetOrder(environment)) {
    if (routes.some((route) => overlaps(route, third))) continue;
    try {
      await callDocker('possible', () => docker.createNetwork(networkOptions(environment, third)));
    } catch (error) {
      // 403: the subnet overlaps another network, 409: the name exists. Either may be ours, created by another process.
      if (statusCode(error) !== 403 && statusCode(error) !== 409) throw error;
    }
    const made = await findNetwork(docker, environment);
    if (made) return made;
  }
  throw new Error('No subnet below 10.213.0.0/16 is free for the local cloud');
}

/** Fails while machines are connected to it. */
export async function removeNetwork(docker: Dockerode, environment: string): Promise<void> {
  const network = docker.getNetwork(networkName(environment));
  await fallbackOnStatus(404, undefined, () => callDocker('possible', () => network.remove()));
}

async function findNetwork(docker: Dockerode, environment: string): Promise<MachineNetwork | null> {
  const name = networkName(environment);
  const info = await fallbackOnStatus(404, null, () => callDocker('none', () => docker.getNetwork(name).inspect()));
  const gateway = info?.IPAM?.Config?.[0]?.Gateway;
  return gateway ? { name, gateway } : null;
}

function networkOptions(environment: string, third: number): Dockerode.NetworkCreateOptions {
  return {
    Name: networkName(environment),
    CheckDuplicate: true,
    Driver: 'bridge',
    IPAM: { Driver: 'default', Config: [{ Subnet: `10.213.${third}.0/24`, Gateway: `10.213.${third}.1` }] },
    Options: {
      'com.docker.network.bridge.name': `stagi-${digest(environment).toString('hex').slice(0, 8)}`,
      // Isolates machines of different people from each other.
      'com.docker.network.bridge.enable_icc': 'false',
    },
    Labels: { 'cloud.stagi.environment': environment },
  };
}

/** Starts with a subnet derived from the environment's name, so that a recreated network keeps its gateway. */
function subnetOrder(environment: string): number[] {
  const first = digest(environment)[0]!;
  return Array.from({ length: 256 }, (_, step) => (first + step) % 256);
}

function digest(environment: string): Buffer {
  return createHash('sha256').update(environment).digest();
}

interface Route {
  destination: number;
  mask: number;
}

/** /proc/net/route: addresses are hexadecimal words in the machine's byte order, here little-endian. */
function parseRoutes(text: string): Route[] {
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .map((fields) => ({ destination: word(fields[1] ?? '0'), mask: word(fields[7] ?? '0') }))
    .filter(({ mask }) => mask !== 0);
}

function word(hex: string): number {
  return Buffer.from(hex.padStart(8, '0'), 'hex').readUInt32LE();
}

function overlaps(route: Route, third: number): boolean {
  const subnet = ((10 << 24) | (213 << 16) | (third << 8)) >>> 0;
  const mask = (route.mask & 0xffffff00) >>> 0;
  return (route.destination & mask) >>> 0 === (subnet & mask) >>> 0;
}

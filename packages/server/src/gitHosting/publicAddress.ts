import { lookup } from 'node:dns/promises';
import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** IPv4 networks that are no public hosts (IANA's registry of special-purpose addresses). */
const SPECIAL_IPV4 = networks('ipv4', [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]);
/** All public hosts are in here; addresses that hold an IPv4 address are not, but for those below. */
const GLOBAL_IPV6 = networks('ipv6', [['2000::', 3]]);
/** Teredo and other protocols, documentation, 6to4. */
const SPECIAL_IPV6 = networks('ipv6', [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]);

/** Whether an address may be that of a host on the internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !SPECIAL_IPV4.check(address, 'ipv4');
  // With a zone (`fe80::1%eth0`) it is local.
  if (!isIPv6(address) || address.includes('%')) return false;
  return GLOBAL_IPV6.check(address, 'ipv6') && !SPECIAL_IPV6.check(address, 'ipv6');
}

/** All addresses of a host as it stands in a parsed URL. */
export async function addressesOf(hostname: string): Promise<string[]> {
  const name = hostname.replace(/^\[|\]$/g, '');
  const found = await lookup(name, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
}

function networks(family: 'ipv4' | 'ipv6', list: [string, number][]): BlockList {
  const block = new BlockList();
  for (const [network, prefix] of list) block.addSubnet(network, prefix, family);
  return block;
}

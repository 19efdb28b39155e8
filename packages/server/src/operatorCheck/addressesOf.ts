import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';

const LOOPBACK: LookupAddress = { address: '127.0.0.1', family: 4 };

/** The addresses of a name; none where it has none. Names below `localhost` are this machine (RFC 6761 6.3). */
export async function addressesOf(hostname: string): Promise<LookupAddress[]> {
  if (hostname.endsWith('.localhost')) return [LOOPBACK];
  try {
    return await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return [];
    throw error;
  }
}

import { isIP } from 'node:net';
import { ConfigError } from './configError.ts';

const LOOPBACK = '127.0.0.1';
const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** The address that the ports listen at; without `text` only this machine reaches them. */
export function readListenHost(text: string | undefined): string {
  const address = text || LOOPBACK;
  if (isIP(address) === 0)
    throw new ConfigError(
      'LISTEN_HOST',
      `must be an address of this machine like 127.0.0.1, or 0.0.0.0 for all of them, not "${text}"`,
    );
  return address;
}

export const isLoopbackAddress = (listenHost: string): boolean => /^(127\.[\d.]+|::1)$/.test(listenHost);

export const isEveryAddress = (listenHost: string): boolean => EVERY_ADDRESS.includes(listenHost);

/** The host of URLs by which this machine reaches what listens there. */
export function hostInUrl(listenHost: string): string {
  if (isEveryAddress(listenHost)) return LOOPBACK;
  return isIP(listenHost) === 6 ? `[${listenHost}]` : listenHost;
}

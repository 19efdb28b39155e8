import type { ClientOptions } from 'ws';

/**
 * Frames are masked so that no proxy on the way takes bytes that a container chose for a request. Nobody on the way reads
 * TLS, and nobody is on the way to this machine itself: there the mask is zero, which costs nothing. Masking in JavaScript
 * takes more of the processor than all the rest of a stream.
 */
export function maskingFor(origin: string): Pick<ClientOptions, 'generateMask'> {
  const { protocol, hostname } = new URL(origin);
  const isReadByNobody = protocol === 'https:' || LOOPBACK.test(hostname);
  return isReadByNobody ? { generateMask: (mask) => void mask.fill(0) } : {};
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

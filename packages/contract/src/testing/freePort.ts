import { once } from 'node:events';
import { createServer } from 'node:net';

/** Above the host ports of containers and below the ephemeral ports of the kernel (32768 and up). */
const PROCESS_PORTS = { first: 10_001, last: 32_767 };
/** The upper part of the host ports that containers may have: `fetch` blocks none of these. */
const CONTAINER_PORTS = { first: 7_000, last: 9_999 };
/** Blocked by `fetch` (https://fetch.spec.whatwg.org/#port-blocking). */
const BLOCKED = 10_080;

/**
 * A loopback port reserved for this process until it ends, also while nothing listens on it, so that a listener can be
 * killed and started again. It is no ephemeral port, and other processes that call this get other ports.
 */
export const freePort = (): Promise<number> => reserve(PROCESS_PORTS);

/** The same among the ports of a server at which a container may be published. */
export const freeHostPort = (): Promise<number> => reserve(CONTAINER_PORTS);

async function reserve({ first, last }: typeof PROCESS_PORTS): Promise<number> {
  for (;;) {
    const port = first + Math.floor(Math.random() * (last - first + 1));
    if (port !== BLOCKED && (await takes(port)) && (await isUnused(port))) return port;
  }
}

/** Reserves a port by an abstract socket: one process holds it, and the kernel frees it when the process ends. */
async function takes(port: number): Promise<boolean> {
  const mark = createServer();
  mark.unref();
  return listens(mark, `\0stagi-test-port/${port}`);
}

async function isUnused(port: number): Promise<boolean> {
  const probe = createServer();
  if (!(await listens(probe, { host: '127.0.0.1', port }))) return false;
  probe.close();
  await once(probe, 'close');
  return true;
}

async function listens(server: ReturnType<typeof createServer>, where: string | { host: string; port: number }) {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  server.once('listening', () => resolve(true));
  server.once('error', (error: NodeJS.ErrnoException) =>
    error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
  );
  server.listen(where);
  return promise;
}

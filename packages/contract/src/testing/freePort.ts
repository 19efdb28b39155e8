import { once } from 'node:events';
import { createServer } from 'node:net';

/** Above those of containers and below those that the kernel gives out by itself (32768 and on). */
const FIRST = 10_001;
const LAST = 32_767;
/** `fetch` refuses it (https://fetch.spec.whatwg.org/#port-blocking). */
const BLOCKED = 10_080;

/**
 * A port of loopback that is nobody else's until this process ends, whether somebody listens there or not: what listens
 * may be killed and started again. The kernel gives it to nobody, and who asks here in another process gets another one.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    if (port !== BLOCKED && (await takes(port)) && (await isUnused(port))) return port;
  }
}

/** By a socket in Linux's abstract namespace: one process has it, and the kernel frees it when that dies. */
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

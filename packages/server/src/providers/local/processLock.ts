import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Progress {
  step: string;
  /** 0 … 1 */
  progress: number;
  since: Date;
}

export interface Lock {
  release(): void;
}

/**
 * A lock between processes of this machine, which the kernel releases when its holder dies: an abstract socket, which
 * leaves no file. Other processes can read the holder's progress from it. Returns `null` when another process holds it.
 */
export async function acquireLock(name: string, progress: () => Progress): Promise<Lock | null> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy()); // the other process has disconnected
    socket.end(JSON.stringify(progress()));
  });
  server.unref();
  const { promise, resolve, reject } = Promise.withResolvers<Lock | null>();
  server.once('error', (error) => (hasCode(error, 'EADDRINUSE') ? resolve(null) : reject(error)));
  server.listen(address(name), () => resolve({ release: () => void server.close() }));
  return promise;
}

/** The holder's progress; `null` when nobody holds the lock. */
export async function holderProgress(name: string): Promise<Progress | null> {
  const socket = connect(address(name));
  socket.setTimeout(2_000, () => socket.destroy(new Error('The holder of the lock does not answer')));
  try {
    const { since, ...rest } = JSON.parse(await text(socket)) as { step: string; progress: number; since: string };
    return { ...rest, since: new Date(since) };
  } catch (error) {
    if (hasCode(error, 'ECONNREFUSED') || hasCode(error, 'ECONNRESET')) return null;
    throw error;
  }
}

function address(name: string): string {
  return `\0stagi/${name}`;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

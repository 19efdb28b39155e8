import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server of this machine that becomes full: no byte passes then. */
export interface Bottleneck {
  port: number;
  /** Resolves once it is full. */
  full: Promise<void>;
  /** Lets everything pass from now on, also the end of a connection. */
  release(): void;
  close(): void;
}

/** Each connection passes so many bytes in each direction, and a little more. */
export async function aBottleneck(target: number, bytes: number): Promise<Bottleneck> {
  const { promise: full, resolve } = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  let isOpen = false;
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    const join = (from: Socket, to: Socket): void => {
      sockets.add(from);
      let passed = 0;
      from.on('data', (chunk) => {
        to.write(chunk);
        passed += chunk.length;
        if (passed < bytes || isOpen) return;
        from.pause();
        resolve();
      });
      // What broke off on one side breaks off on the other.
      from.on('error', () => to.resetAndDestroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroySoon();
      });
    };
    join(near, far);
    join(far, near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    full,
    release() {
      isOpen = true;
      for (const socket of sockets) socket.resume();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';

/** A TCP proxy to a database, which a test can cut and restore. */
export interface DatabaseProxy {
  url: string;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  /** Accepts connections and data but forwards nothing until `restore`. */
  freeze(): void;
  restore(): void;
  close(): Promise<void>;
}

export async function proxyDatabase(target: string): Promise<DatabaseProxy> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: target });
  const sockets = new Set<Socket>();
  let isCut = false;
  let isFrozen = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      if (!isFrozen) from.pipe(to);
      // Errors are what the test wants; the close passes them on to the other side.
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const secret = password ? `:${encodeURIComponent(password)}` : '';
  const at = (server.address() as { port: number }).port;
  return {
    url: `postgres://${encodeURIComponent(user ?? '')}${secret}@127.0.0.1:${at}/${database}`,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    restore() {
      // Frozen connections cannot go on: data may be missing.
      if (isFrozen) for (const socket of sockets) socket.destroy();
      isCut = false;
      isFrozen = false;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

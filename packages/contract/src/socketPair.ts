import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * Two connected sockets of the system (an abstract Unix socket of Linux). Node's HTTP/2 over any other kind of stream ends
 * the process with an assertion when that stream breaks off during a write.
 */
export async function socketPair(): Promise<[Socket, Socket]> {
  const path = `\0stagi-${randomBytes(16).toString('hex')}`;
  const secret = randomBytes(32);
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  server.listen(path);
  await once(server, 'listening');
  try {
    const near = connect({ path, allowHalfOpen: true });
    const [[far]] = (await Promise.all([once(server, 'connection'), once(near, 'connect')])) as [[Socket], unknown];
    near.write(secret);
    // Another process of this machine could have connected in its place.
    const greeting = await readExactly(far, secret.length);
    if (!timingSafeEqual(greeting, secret)) throw new Error('the socket pair was taken by somebody else');
    return [near, far];
  } finally {
    server.close();
  }
}

async function readExactly(socket: Socket, bytes: number): Promise<Buffer> {
  for (;;) {
    const read = socket.read(bytes) as Buffer | null;
    if (read) return read;
    await once(socket, 'readable');
  }
}

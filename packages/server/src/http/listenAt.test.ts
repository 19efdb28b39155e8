import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { afterEach, expect, it } from 'vitest';
import { listenAt } from './listenAt.ts';

const HOST = '127.0.0.1';
const CONNECTIONS = 96;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

it('takes several new connections in each turn of the event loop', async () => {
  const port = await freePort();
  const taken: Socket[] = [];
  const all = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    taken.push(socket);
    if (taken.length === CONNECTIONS) all.resolve();
  });
  const stopAccepting = await listenAt(server, HOST, port);
  ends.push(() => Promise.all([stopAccepting(), new Promise((resolve) => server.close(resolve))]));
  let turns = 0;
  let isDone = false;
  const countTurn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(countTurn);
  };
  // The kernel has accepted them all before this process looks for the first time.
  const clients = Array.from({ length: CONNECTIONS }, () => connect(port, HOST));
  ends.push(() => clients.map((client) => client.destroy()));
  countTurn();
  await all.promise;
  isDone = true;
  console.log(`listenAt: n = ${CONNECTIONS} connections in ${turns} turns`);
  expect(turns).toBeLessThan(CONNECTIONS / 2);
});

it('waits for the connections of all sockets when it stops, and takes no more', async () => {
  const port = await freePort();
  let left = CONNECTIONS;
  const all = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.resume();
    left -= 1;
    if (left === 0) all.resolve();
  });
  const stopAccepting = await listenAt(server, HOST, port);
  const clients = Array.from({ length: CONNECTIONS }, () => connect(port, HOST));
  await all.promise;
  let isStopped = false;
  const stopped = Promise.all([stopAccepting(), new Promise((resolve) => server.close(resolve))]).then(() => {
    isStopped = true;
  });
  const late = connect(port, HOST);
  expect(((await once(late, 'error')) as [NodeJS.ErrnoException])[0].code).toBe('ECONNREFUSED');
  expect(isStopped).toBe(false);
  for (const client of clients) client.destroy();
  await stopped;
});

it('refuses a port that another server of its kind has', async () => {
  const port = await freePort();
  const first = createServer();
  const stopAccepting = await listenAt(first, HOST, port);
  ends.push(() => Promise.all([stopAccepting(), new Promise((resolve) => first.close(resolve))]));
  await expect(listenAt(createServer(), HOST, port)).rejects.toThrow('EADDRINUSE');
});

import { once } from 'node:events';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { WebSocket } from 'ws';
import { terminalAddress, ticketOf } from './terminalViewer.ts';

/** A terminal of a server, of which one sees the echo of what is typed. */
export interface EchoTerminal {
  /** Types a line and waits until it is seen. */
  echo(text: string): Promise<void>;
  close(): void;
}

const KEPT_CHARACTERS = 4_000;

export async function openEchoTerminal(url: string, person: Person, path: string): Promise<EchoTerminal> {
  const socket = new WebSocket(terminalAddress(url, await ticketOf(person), { path, shell: 'sh' }), { origin: url });
  let tail = '';
  let shown = 0;
  let ended: Error | null = null;
  const looks = new Set<() => void>();
  const look = (): void => {
    for (const one of looks) one();
  };
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
  const end = (reason: string): void => {
    ended ??= new Error(`the terminal ended: ${reason}`);
    reject(ended);
    look();
  };
  socket.on('error', ({ message }) => end(message));
  socket.on('close', (code) => end(`closed with ${code}`));
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) {
      tail = (tail + data.toString('latin1')).slice(-KEPT_CHARACTERS);
      shown += data.length;
      socket.send(JSON.stringify({ type: 'shown', offset: shown }));
      return look();
    }
    const message = JSON.parse(data.toString()) as { type: string; message?: string };
    if (message.type === 'opened') resolve();
    if (message.type === 'refused' || message.type === 'lost') end(`${message.type}: ${message.message ?? ''}`);
  });
  await Promise.all([once(socket, 'open'), opened]);
  return {
    async echo(text) {
      socket.send(Buffer.from(`: ${text}\n`));
      const { promise, resolve: see, reject: fail } = Promise.withResolvers<void>();
      const find = (): void => {
        if (tail.includes(text)) see();
        else if (ended) fail(ended);
      };
      looks.add(find);
      find();
      await promise.finally(() => looks.delete(find));
    },
    close() {
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ type: 'close' }));
      socket.close();
    },
  };
}

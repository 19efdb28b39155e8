import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { api } from '@stagi/contract/api.ts';
import { type TerminalControl, TerminalMessage } from '@stagi/contract/terminals.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { WebSocket } from 'ws';

const SHOWN_EVERY_BYTES = 64 * 1024;

/** The query of a terminal, as text: it may be wrong. */
export interface AskedTerminal {
  /** Kind and id, such as `instance-rented/1`. */
  path: string;
  session?: string;
  cols?: string;
  rows?: string;
  shell?: string;
  offset?: string;
}

export const ticketOf = async (person: Person): Promise<string> =>
  (await person.client(api.auth.streamTicket, {})).ticket;

export function terminalAddress(url: string, ticket: string, { path, ...asked }: AskedTerminal): string {
  const query = new URLSearchParams({ ticket, session: randomUUID(), cols: '80', rows: '24', ...asked });
  return `${url.replace('http', 'ws')}/frontend-api/${path}/terminal?${query}`;
}

/** The status that answers an upgrade. */
export async function upgradeStatus(address: string, origin: string): Promise<number> {
  const socket = new WebSocket(address, { origin });
  const opened = once(socket, 'open').then(() => 101);
  const refused = new Promise<number>((resolve) => {
    socket.on('unexpected-response', (_, response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
  });
  socket.on('error', () => {});
  const status = await Promise.race([opened.catch(() => 0), refused]);
  socket.terminate();
  return status;
}

/** A terminal as a browser has it. `url`: of the platform. */
export async function viewTerminal(url: string, person: Person, asked: AskedTerminal) {
  const socket = new WebSocket(terminalAddress(url, await ticketOf(person), asked), { origin: url });
  const messages: TerminalMessage[] = [];
  let tail = '';
  let bytes = 0;
  let told = 0;
  const looks = new Set<() => void>();
  const closed = once(socket, 'close').then(([code]) => code as number);
  const tell = (control: TerminalControl): void => socket.send(JSON.stringify(control));
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) {
      tail = (tail + data.toString('latin1')).slice(-4000);
      bytes += data.length;
      if (bytes - told > SHOWN_EVERY_BYTES) {
        told = bytes;
        tell({ type: 'shown', offset: Number(asked.offset ?? 0) + bytes });
      }
    } else messages.push(TerminalMessage.parse(JSON.parse(data.toString())));
    for (const look of looks) look();
  });
  await once(socket, 'open');
  const terminal = {
    socket,
    closed,
    messages,
    tell,
    bytes: () => bytes,
    text: () => Buffer.from(tail, 'latin1').toString(),
    type: (input: string) => socket.send(Buffer.from(input)),
    /** Looked at after each message. */
    async hears<T>(find: () => T | undefined | false): Promise<T> {
      const { promise, resolve } = Promise.withResolvers<T>();
      const look = (): void => {
        const found = find();
        if (found) resolve(found);
      };
      looks.add(look);
      look();
      return promise.finally(() => looks.delete(look));
    },
    of: <K extends TerminalMessage['type']>(type: K) =>
      terminal.hears(() =>
        messages.find((message): message is Extract<TerminalMessage, { type: K }> => message.type === type),
      ),
  };
  return terminal;
}

import { api } from '@stagi/contract/api.ts';
import { type LogLine, TailMessage } from '@stagi/contract/logging.ts';
import { WebSocket } from 'ws';
import type { TestApp } from '../../testing/app.ts';
import type { Person } from '../../testing/person.ts';

/** Follows a log as a browser does. `until` resolves with the lines so far once they are enough. */
export async function openTail(app: TestApp, person: Person, id: number, after: number) {
  const socket = new WebSocket(tailUrl(app.url, await ticketOf(person), id, after), { origin: app.url });
  const received: TailMessage[] = [];
  const lines: LogLine[] = [];
  let look = (): void => {};
  socket.on('message', (data: Buffer) => {
    const message = TailMessage.parse(JSON.parse(data.toString()));
    received.push(message);
    if (message.type === 'lines') lines.push(...message.lines);
    look();
  });
  const closed = new Promise<{ code: number }>((resolve) => socket.on('close', (code) => resolve({ code })));
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  return {
    socket,
    received,
    closed,
    until: (enough: (heard: readonly LogLine[]) => boolean): Promise<readonly LogLine[]> =>
      new Promise((resolve) => {
        look = () => {
          if (enough(lines)) resolve(lines);
        };
        look();
      }),
  };
}

export async function ticketOf(person: Person): Promise<string> {
  return (await person.client(api.auth.streamTicket, {})).ticket;
}

export function tailUrl(url: string, ticket: string, id: number, after: number): string {
  const query = new URLSearchParams({ ticket, type: 'docker-container', id: String(id), after: String(after) });
  return `${url.replace('http', 'ws')}/frontend-api/logging/tail?${query}`;
}

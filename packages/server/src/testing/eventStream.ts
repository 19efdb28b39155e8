import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';
import { EventMessage } from '@stagi/contract/events.ts';
import { WebSocket } from 'ws';
import type { Person } from './person.ts';

export interface EventStream {
  /** What has come so far, pings too. */
  received: readonly EventMessage[];
  /** The same as it came. */
  text(): string;
  /** The close code, once the stream is closed. */
  code(): number | null;
  closed: Promise<number>;
  leave(): Promise<void>;
}

/** Opens the event stream as a program does. Rejects when the upgrade is refused. */
export async function openEventStream(
  url: string,
  ticket: string,
  heard: (message: EventMessage) => void = () => {},
): Promise<EventStream> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${API_PREFIX}events?${new URLSearchParams({ ticket })}`);
  const received: EventMessage[] = [];
  let text = '';
  let code: number | null = null;
  socket.on('message', (data: Buffer) => {
    text += `${data}\n`;
    const message = EventMessage.parse(JSON.parse(String(data)));
    received.push(message);
    heard(message);
  });
  const closed = new Promise<number>((resolve) =>
    socket.once('close', (given) => {
      code = given;
      resolve(given);
    }),
  );
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  // A connection that breaks closes right after.
  socket.on('error', () => {});
  return {
    received,
    text: () => text,
    code: () => code,
    closed,
    async leave() {
      socket.close();
      await closed;
    },
  };
}

/** The event stream of a person's workspace. */
export async function eventsOf(url: string, person: Person): Promise<EventStream> {
  const { ticket } = await person.client(api.auth.streamTicket, {});
  return openEventStream(url, ticket);
}

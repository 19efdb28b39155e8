import type { Socket } from 'node:net';
import { api } from '@stagi/contract/api.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expect } from 'vitest';
import { upgrade, visitPort } from './portVisitor.ts';
import { cookieOf, type PrivatePort } from './privatePort.ts';
import { until } from './until.ts';

const DEADLINE_MS = 60_000;

/**
 * Takes the right to a private port from members who have a WebSocket open there, each in another way. Answers for how
 * many milliseconds each WebSocket stayed open after that.
 */
export async function takeRightsToPort({ app, owner, host, passFor, addMember }: PrivatePort): Promise<number[]> {
  const ends: Record<string, (member: Person) => Promise<unknown>> = {
    removed: ({ userId }) => owner.client(api.clients.removeMember, { userId }),
    'given a role without it': ({ userId }) => owner.client(api.clients.editMember, { userId, role: 'Billing' }),
    'logged out': ({ client, tokens }) => client(api.auth.logout, { refreshToken: tokens().refreshToken }),
  };
  const waits: number[] = [];
  for (const [what, end] of Object.entries(ends)) {
    const member = await app.signUp();
    await addMember(member, 'Developer');
    const headers = cookieOf(await passFor(member));
    const { socket } = await upgrade(app, host, { ...headers, origin: `http://${host}` });
    expect(socket, what).not.toBeNull();
    drainSocket(socket!);
    await end(member);
    const begun = performance.now();
    await socketCloses(socket!, what);
    waits.push(performance.now() - begun);
    expect.soft((await visitPort(app, host, { headers })).status, what).toBe(401);
  }
  return waits;
}

export const setVisibility = ({ owner, containerId }: PrivatePort, visibility: 'private' | 'public') =>
  owner.client(api.containerAccess.editPorts, {
    ref: { id: containerId },
    portMappings: [{ host: 8080, visibility }],
  });

/**
 * Makes a public port private while somebody has a WebSocket open there. Answers how many milliseconds after that was
 * asked for the WebSocket was closed.
 */
export async function closePublicPort(port: PrivatePort): Promise<number> {
  const { app, host } = port;
  const { socket } = await upgrade(app, host);
  expect(socket).not.toBeNull();
  drainSocket(socket!);
  const begun = performance.now();
  await setVisibility(port, 'private');
  await socketCloses(socket!, 'the port is private');
  const ms = performance.now() - begun;
  expect((await visitPort(app, host, { headers: { accept: 'application/json' } })).status).toBe(401);
  return ms;
}

/** A socket that nobody reads does not close; an error is one of the ways in which it does. */
function drainSocket(socket: Socket): void {
  socket.on('error', () => {});
  socket.resume();
}

const socketCloses = (socket: Socket, what: string) =>
  until(`the WebSocket is closed: ${what}`, async () => socket.closed, DEADLINE_MS, 5);

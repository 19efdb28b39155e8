import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'vitest';
import { OWN, SHAPES } from './hostileHosts.ts';
import type { Surface } from './surfaces.ts';

let sent = 0;
export const requestsSent = (): number => sent;

/** Sends lines as they are and reads until the connection is closed, or upgraded. */
export async function send(port: number, lines: readonly string[], body = '', localAddress = '127.0.0.1') {
  sent += 1;
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  await once(socket, 'connect');
  socket.write(`${lines.join('\r\n').replaceAll('PORT', String(port))}\r\n\r\n${body}`);
  let text = '';
  for await (const data of socket) {
    text += data;
    if (text.startsWith('HTTP/1.1 101 ')) break;
  }
  return { status: Number(text.split(' ')[1]), text };
}

function linesBelow([method, , body]: Surface): string[] {
  const stream = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
  const length = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  return method === 'WS' ? ['Connection: Upgrade, close', ...stream] : ['Connection: close', ...length];
}

export function ask(port: number, surface: Surface, headers: readonly string[], from?: string) {
  const [method, path, body] = surface;
  const first = `${method === 'WS' ? 'GET' : method} ${path} HTTP/1.1`;
  return send(port, [first, ...headers, ...linesBelow(surface)], body, from);
}

const withHost = (host: string): string[] => [`Host: ${host}`];

/** Each of the hosts gets 421, by a message that names it and the setting, and no other origin may read it. */
export async function expectRefused(
  port: number,
  surfaces: readonly Surface[],
  hosts: readonly string[],
  headersOf: (host: string) => string[] = withHost,
): Promise<void> {
  for (const surface of surfaces)
    for (const host of hosts) {
      const { status, text } = await ask(port, surface, headersOf(host));
      const shown = host.replaceAll('PORT', String(port)).toLowerCase();
      expect.soft([surface[0], surface[1], host, status]).toEqual([surface[0], surface[1], host, 421]);
      if (status !== 421) continue;
      expect.soft(text).toContain('ALLOWED_HOSTS');
      expect.soft(text).not.toMatch(/access-control-allow-origin/i);
      // The others are written otherwise in JSON or XML.
      if (/^[\w.:@-]+$/.test(host)) expect.soft(text.toLowerCase()).toContain(shown);
    }
}

/** Each shape gets 421, or 400 from Node itself: an id of the request would show that the platform has read it. */
export async function expectShapesRefused(port: number, surfaces: readonly Surface[]): Promise<void> {
  for (const surface of surfaces)
    for (const shape of SHAPES) {
      const [method, path, body] = surface;
      const isOtherUpgrade = shape.includes('Upgrade: h2c');
      const below = linesBelow(isOtherUpgrade ? ['GET', path, '', 0] : surface);
      const lines = shape.map((line) => line.replace('METHOD', method === 'WS' ? 'GET' : method).replace('PATH', path));
      const { status, text } = await send(port, [...lines, ...below], isOtherUpgrade ? '' : body);
      const isUnread = status === 400 && !/request-id/i.test(text);
      expect.soft(status === 421 || isUnread, `${lines.join(' | ')}: ${status}`).toBe(true);
      expect.soft(text).not.toMatch(/access-control-allow-origin/i);
    }
}

/** Each surface is answered as its own at each of the hosts, or with `status`. */
export async function expectAnswered(
  port: number,
  surfaces: readonly Surface[],
  hosts: readonly string[] = OWN,
  status?: number,
): Promise<void> {
  for (const surface of surfaces)
    for (const host of hosts) {
      const answer = await ask(port, surface, withHost(host));
      expect.soft([surface[1], host, answer.status]).toEqual([surface[1], host, status ?? surface[3]]);
    }
}

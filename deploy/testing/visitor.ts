import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Send } from '@stagi/contract/apiClient.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';

/** The names of a test lead to this machine. */
export const toThisMachine: LookupFunction = (_name, { all }, found) =>
  all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);

export interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** Somebody at an address, who knows the platform by its names and trusts the authority of `ca`. */
export interface Visitor {
  agent: Agent;
  open(url: string, options?: RequestOptions): ReturnType<typeof request>;
  ask(url: string, options?: RequestOptions & { body?: string | Buffer }): Promise<Answer>;
  /** For the typed client, at an origin. */
  send(origin: string): Send;
}

export function aVisitor(ca: string, localAddress: string): Visitor {
  const agent = new Agent({ ca: readFileSync(ca), lookup: toThisMachine, localAddress, keepAlive: true });
  const open: Visitor['open'] = (url, options = {}) => request(url, { agent, ...options });
  const ask: Visitor['ask'] = (url, { body, ...options } = {}) => {
    const asked = open(url, options);
    asked.end(body);
    return answerOf(asked);
  };
  const send =
    (origin: string): Send =>
    async (path, input, { headers, signal }) => {
      const answer = await ask(`${origin}${API_PREFIX}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(input),
        ...(signal && { signal }),
      });
      const retryAfter = answer.headers['retry-after'];
      return {
        status: answer.status,
        body: answer.body.length > 0 ? JSON.parse(answer.body.toString()) : null,
        retryAfter: retryAfter ? Number(retryAfter) : null,
      };
    };
  return { agent, open, ask, send };
}

export async function answerOf(asked: ReturnType<typeof request>): Promise<Answer> {
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) };
}

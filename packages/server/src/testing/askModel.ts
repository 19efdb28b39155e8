import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { api } from '@stagi/contract/api.ts';
import { API_PREFIX, type InputOf } from '@stagi/contract/call.ts';
import { CallError, isErrorBody } from '@stagi/contract/errors.ts';
import { RunEvent } from '@stagi/contract/modelEndpoints.ts';
import type { Person } from './person.ts';

export interface Asker {
  /** Of the platform. */
  url: string;
  headers: Record<string, string>;
}

export const askerOf = (url: string, person: Person): Asker => ({
  url,
  headers: {
    authorization: `Bearer ${person.tokens().accessToken}`,
    'x-client-id': String(person.workspaceId),
  },
});

/** An event of an answer, and when it came, by `performance.now()`. */
export type Arrived = RunEvent & { at: number };

/**
 * Asks a served model: the typed client reads no streams. Yields events as they come; throws CallError where the call is
 * refused. Ending the loop or aborting `signal` ends the request.
 */
export async function* askModel(
  { url, headers }: Asker,
  input: InputOf<typeof api.modelEndpoints.run>,
  { signal }: { signal?: AbortSignal } = {},
): AsyncGenerator<Arrived> {
  const { path } = api.modelEndpoints.run;
  const response = await fetch(`${url}${API_PREFIX}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(input),
    signal,
  });
  if (!response.headers.get('content-type')?.startsWith('application/x-ndjson')) {
    const body: unknown = await response.json();
    throw new CallError(response.status, isErrorBody(body) ? body : null, null, { path });
  }
  const body = Readable.fromWeb(response.body as ReadableStream);
  try {
    for await (const line of createInterface({ input: body }))
      yield { ...RunEvent.parse(JSON.parse(line)), at: performance.now() };
  } finally {
    body.destroy();
  }
}

/** The whole answer, with its text put together. */
export async function answerOf(
  asker: Asker,
  input: InputOf<typeof api.modelEndpoints.run>,
  options: { signal?: AbortSignal } = {},
): Promise<{ events: Arrived[]; text: string; last: Arrived | undefined }> {
  const events: Arrived[] = [];
  for await (const event of askModel(asker, input, options)) events.push(event);
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  return { events, text, last: events.at(-1) };
}

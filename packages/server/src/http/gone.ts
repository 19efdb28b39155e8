import type { ServerResponse } from 'node:http';

/** Aborted when nobody waits for the answer any more: it is sent, or the client has gone. */
export function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
}

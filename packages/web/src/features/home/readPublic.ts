import type { Call, InputOf, OutputOf } from '@stagi/contract/call.ts';
import { CallError, isErrorBody } from '@stagi/contract/errors.ts';
import { apiUrl } from '../../api/client.ts';

/**
 * A public call of our own server, without the schemas of the contract: to load and evaluate them would take longer than
 * all else on a first visit. Throws `CallError`.
 */
export async function readPublic<C extends Call>(
  of: Pick<C, 'path'>,
  input: InputOf<C>,
  signal: AbortSignal,
): Promise<OutputOf<C>> {
  const response = await fetch(apiUrl(of.path), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
    signal,
  });
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const body: unknown = isJson ? await response.json() : null;
  if (response.ok && body !== null) return body as OutputOf<C>;
  const wait = Number(response.headers.get('retry-after'));
  throw new CallError(response.status, isErrorBody(body) ? body : null, wait > 0 ? wait : null, { path: of.path });
}

import { API_PREFIX } from '@stagi/contract/call.ts';

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** A call without the typed client. */
export async function rawCall(
  url: string,
  path: string,
  input: unknown,
  { authorization, workspace }: { authorization: string | undefined; workspace: number | string | null },
): Promise<RawAnswer> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID(),
  };
  if (authorization) headers.authorization = authorization;
  if (workspace !== null) headers['x-client-id'] = String(workspace);
  const response = await fetch(url + API_PREFIX + path, { method: 'POST', headers, body: JSON.stringify(input) });
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

/** An answer without its request id and date, to compare it with others. */
export function withoutRequestId({ status, headers, text }: RawAnswer): string {
  const { 'x-request-id': number, date: _, ...rest } = headers;
  return JSON.stringify([status, rest, number ? text.replaceAll(number, '') : text]);
}

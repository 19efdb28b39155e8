import { API_PREFIX } from '@stagi/contract/call.ts';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** A raw call, as anybody could make it. */
export async function ask(
  url: string,
  path: string,
  input: unknown,
  { authorization, workspace }: { authorization: string | undefined; workspace: number | string | null },
): Promise<Answer> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID(),
  };
  if (authorization) headers.authorization = authorization;
  if (workspace !== null) headers['x-client-id'] = String(workspace);
  const response = await fetch(url + API_PREFIX + path, { method: 'POST', headers, body: JSON.stringify(input) });
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

/** All of an answer but the number that every request has of its own, and the second that it came in. */
export function withoutItsNumber({ status, headers, text }: Answer): string {
  const { 'x-request-id': number, date: _, ...rest } = headers;
  return JSON.stringify([status, rest, number ? text.replaceAll(number, '') : text]);
}

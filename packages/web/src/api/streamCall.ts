import type { Call, InputOf, OutputOf } from '@stagi/contract/call.ts';
import { CallError, isErrorBody } from '@stagi/contract/errors.ts';
import { LOCALE } from '@stagi/contract/languages.ts';
import { currentLanguage } from '../i18n/i18n.ts';
import { apiUrl } from './client.ts';
import { withSchemas } from './schemas.ts';
import { session } from './session.ts';
import { activeClientId } from './workspace.ts';

/**
 * Makes a streamed call: yields each line of its answer as it comes. Throws `CallError` when it is refused, or when a
 * line is not what the contract says. `refresh` gets new tokens after a 401; the call is then made once more.
 */
export async function* streamCall<C extends Call>(
  call: C,
  input: InputOf<C>,
  { signal, refresh }: { signal: AbortSignal; refresh(): Promise<unknown> },
): AsyncGenerator<OutputOf<C>> {
  const [{ output }, answer] = await Promise.all([withSchemas(call), begin()]);
  for await (const line of linesOf(answer)) {
    const parsed = output.safeParse(JSON.parse(line));
    if (!parsed.success) throw new CallError(answer.status, null, null, { cause: parsed.error, path: call.path });
    yield parsed.data as OutputOf<C>;
  }

  async function begin(): Promise<Response> {
    let response = await send();
    if (response.status === 401) {
      await refresh();
      response = await send();
    }
    const type = response.headers.get('content-type') ?? '';
    if (response.ok && type.startsWith('application/x-ndjson')) return response;
    const body: unknown = type.includes('json') ? await response.json() : null;
    throw new CallError(response.status, isErrorBody(body) ? body : null, null, { path: call.path });
  }

  async function send(): Promise<Response> {
    const client = activeClientId();
    const token = session.get()?.accessToken;
    try {
      return await fetch(apiUrl(call.path), {
        method: 'POST',
        signal,
        headers: {
          'content-type': 'application/json',
          'accept-language': LOCALE[currentLanguage()],
          ...(token && { authorization: `Bearer ${token}` }),
          ...(client !== null && { 'x-client-id': String(client) }),
        },
        body: JSON.stringify(input),
      });
    } catch (cause) {
      throw new CallError(signal.aborted ? 499 : 0, null, null, { cause, path: call.path });
    }
  }
}

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value = '' } = await reader.read();
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      yield* lines.filter((line) => line !== '');
      if (done) break;
    }
    if (rest !== '') yield rest;
  } finally {
    void reader.cancel();
  }
}

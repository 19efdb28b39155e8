import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { RunEvent } from '@stagi/contract/modelEndpoints.ts';
import { text } from '@stagi/contract/text.ts';
import { visibleKinds } from '../containers/access.ts';
import type { Context } from '../context.ts';
import { PublicError, refused } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { limitConcurrencyByKey } from '../loops/concurrency.ts';
import { StreamRefused } from '../nodes/streamHub.ts';
import { recheckStreamOwner } from '../sessions/recheckStreamOwner.ts';
import { currentOwner } from '../sessions/streamTicket.ts';
import { askEngine, type EngineAddress, EngineError, readShort } from './ask.ts';
import { addressOf } from './check.ts';
import { eventsOf } from './chunks.ts';
import type { EndpointView } from './queries.ts';
import { reasonIn } from './reason.ts';
import { modelNameOf } from './served.ts';

type Input = ParsedInputOf<typeof api.modelEndpoints.run>;

/** A prompt may take minutes; after the first token the next ones come fast. */
const FIRST_WITHIN_MS = 180_000;
const NEXT_WITHIN_MS = 60_000;
/** Before the timeout of streamed calls. */
const WHOLE_WITHIN_MS = 28 * 60_000;

const AT_ONCE = 8;
const turns = limitConcurrencyByKey<number>(AT_ONCE, {
  most: 0,
  refuse: () => new PublicError(429, text('Too many answers at once: wait until one is done'), { retryAfter: 5 }),
});

/** Whoever asked has gone, or may not ask any more: nobody is told anything. */
class Ended extends Error {}

/**
 * Asks the engine of an endpoint. Resolves once it has begun to answer; throws what refuses it. `gone` aborts when
 * whoever asked has gone, or with a PublicError that ends the answer.
 */
export async function runModel(
  ctx: Member,
  context: Context,
  row: EndpointView,
  input: Input,
  gone: AbortSignal,
): Promise<Readable> {
  const address = addressOf(context, row);
  if (!address) throw refused(text('Its container does not run'));
  const ended = new AbortController();
  const end = () => ended.abort(gone.reason instanceof PublicError ? gone.reason : new Ended());
  gone.addEventListener('abort', end);
  if (gone.aborted) end();
  const unwatch = recheckStreamOwner(context, ctx, async () => {
    const owner = await currentOwner(context, ctx);
    if (typeof owner === 'string' || !visibleKinds(owner.workspace.permissions).includes(row.server_kind))
      ended.abort(new Ended());
  });
  const whole = setTimeout(() => ended.abort(new EngineError(text('The answer took too long'))), WHOLE_WITHIN_MS);
  const over = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<IncomingMessage>();
  // Holds one of the workspace's turns until the answer is over.
  turns(ctx.workspace.id, async () => {
    begun.resolve(await begin(context, address, row, input, ended));
    await over.promise;
  })
    .catch(begun.reject)
    .finally(() => {
      clearTimeout(whole);
      gone.removeEventListener('abort', end);
      unwatch();
    });
  const answer = await begun.promise;
  const lines = Readable.from(linesOf(context, answer, ended), { objectMode: false });
  lines.once('close', () => {
    ended.abort(new Ended());
    answer.destroy();
    over.resolve();
  });
  return lines;
}

async function begin(
  ctx: Context,
  address: EngineAddress,
  row: EndpointView,
  { messages, maxTokens, temperature }: Input,
  ended: AbortController,
): Promise<IncomingMessage> {
  const wait = timeoutOf(ended, text('The engine did not answer in time'));
  wait.within(FIRST_WITHIN_MS);
  try {
    const { signal } = ended;
    const answer = await askEngine(ctx, address, {
      method: 'POST',
      path: '/v1/chat/completions',
      signal,
      body: {
        model: modelNameOf(row),
        messages,
        max_tokens: maxTokens,
        ...(temperature !== undefined && { temperature }),
        stream: true,
        stream_options: { include_usage: true },
      },
    });
    if (answer.statusCode === 200) return answer;
    throw new EngineError(reasonIn(await readShort(answer, signal), answer.statusCode ?? 0));
  } catch (error) {
    if (error instanceof StreamRefused || error instanceof EngineError) throw refused(error.message);
    if (error instanceof Ended) throw refused(text('The answer broke off'));
    throw error;
  } finally {
    wait.stop();
  }
}

async function* linesOf(ctx: Context, answer: IncomingMessage, ended: AbortController): AsyncGenerator<string> {
  const wait = timeoutOf(ended, text('The engine stopped answering'));
  try {
    wait.within(FIRST_WITHIN_MS);
    for await (const event of eventsOf(answer, ended.signal)) {
      // A reader that is slow is not the engine's fault.
      wait.stop();
      yield `${JSON.stringify(event)}\n`;
      wait.within(NEXT_WITHIN_MS);
    }
  } catch (error) {
    if (error instanceof Ended) return;
    const isKnown = error instanceof EngineError || error instanceof PublicError;
    if (!isKnown) ctx.log.error({ err: error }, 'the answer of an engine could not be passed on');
    const message = isKnown ? error.message : text('The answer broke off');
    yield `${JSON.stringify({ type: 'error', message } satisfies RunEvent)}\n`;
  } finally {
    wait.stop();
  }
}

function timeoutOf(ended: AbortController, message: string) {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  return {
    within(ms: number) {
      stop();
      timer = setTimeout(() => ended.abort(new EngineError(message)), ms);
    },
    stop,
  };
}

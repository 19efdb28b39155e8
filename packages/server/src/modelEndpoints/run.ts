import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { engineTemplate, fillIn } from '@stagi/contract/engineTemplates.ts';
import type { RunEvent } from '@stagi/contract/modelEndpoints.ts';
import { text } from '@stagi/contract/text.ts';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { PublicError, refused } from '../http/errors.ts';
import type { Member } from '../http/handlers.ts';
import { limitConcurrencyByKey } from '../loops/concurrency.ts';
import { StreamRefused } from '../nodes/streamHub.ts';
import { recheckStreamOwner } from '../sessions/recheckStreamOwner.ts';
import { currentOwner } from '../sessions/streamTicket.ts';
import { askEngine, EngineError, readShort } from './ask.ts';
import { addressOf } from './check.ts';
import type { EndpointView } from './queries.ts';

type Input = ParsedInputOf<typeof api.modelEndpoints.run>;

/** A prompt may take minutes; after the first token the next ones come fast. */
const FIRST_WITHIN_MS = 180_000;
const NEXT_WITHIN_MS = 60_000;

const AT_ONCE = 8;
const turns = limitConcurrencyByKey<number>(AT_ONCE, {
  most: 0,
  refuse: () => new PublicError(429, text('Too many answers at once: wait until one is done'), { retryAfter: 5 }),
});

/** What engines with the API of OpenAI send. Of the rest nothing is read. */
const Chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish(), reasoning_content: z.string().nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }).nullish(),
});

/** Asks the engine of an endpoint. Resolves once it has begun to answer; throws what refuses it. */
export async function runModel(ctx: Member, context: Context, row: EndpointView, input: Input): Promise<Readable> {
  const address = addressOf(context, row);
  if (!address) throw refused(text('Its container does not run'));
  const ended = new AbortController();
  const unwatch = recheckStreamOwner(context, ctx, async () => {
    if (typeof (await currentOwner(context, ctx)) === 'string') ended.abort(new Ended());
  });
  const { promise: over, resolve: finish } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<IncomingMessage>();
  // Holds one of the workspace's turns until the answer is over.
  turns(ctx.workspace.id, async () => {
    try {
      begun.resolve(await begin(context, address, row, input, ended));
      await over;
    } catch (error) {
      begun.reject(error);
    } finally {
      unwatch();
    }
  }).catch((error: unknown) => {
    unwatch();
    begun.reject(error);
  });
  const answer = await begun.promise;
  const lines = Readable.from(linesOf(context, answer, ended.signal), { objectMode: false });
  lines.once('close', () => {
    ended.abort(new Ended());
    answer.destroy();
    finish();
  });
  return lines;
}

/** The session or token that asked has ended, or its reader has gone. */
class Ended extends Error {}

async function begin(
  ctx: Context,
  address: NonNullable<ReturnType<typeof addressOf>>,
  row: EndpointView,
  { messages, maxTokens, temperature }: Input,
  ended: AbortController,
): Promise<IncomingMessage> {
  const served = { repository: row.repository, variant: row.variant, context: row.context, gpus: row.gpu_count };
  try {
    const answer = await askEngine(ctx, address, {
      method: 'POST',
      path: '/v1/chat/completions',
      signal: AbortSignal.any([ended.signal, AbortSignal.timeout(FIRST_WITHIN_MS)]),
      body: {
        model: fillIn(engineTemplate(row.engine).modelName, served),
        messages,
        max_tokens: maxTokens,
        ...(temperature !== undefined && { temperature }),
        stream: true,
        stream_options: { include_usage: true },
      },
    });
    if (answer.statusCode === 200) return answer;
    throw new EngineError(messageOf(await readShort(answer), answer.statusCode ?? 0));
  } catch (error) {
    if (error instanceof StreamRefused || error instanceof EngineError) throw refused(error.message);
    if (error instanceof Error && error.name === 'TimeoutError')
      throw refused(text('The engine did not answer in time'));
    throw error;
  }
}

/** What the engine says of a refusal, in its own words; these are shown as text. */
function messageOf(body: string, status: number): string {
  const said = z
    .union([z.object({ error: z.object({ message: z.string() }) }), z.object({ message: z.string() })])
    .safeParse(jsonOf(body));
  const own = said.success ? ('error' in said.data ? said.data.error.message : said.data.message) : '';
  return own.trim() === ''
    ? text('The engine refused with {{status}}', { status })
    : text('The engine refused: {{reason}}', { reason: own.slice(0, 500) });
}

async function* linesOf(ctx: Context, answer: IncomingMessage, ended: AbortSignal): AsyncGenerator<string> {
  const idle = setTimeout(() => answer.destroy(new EngineError(text('The engine stopped answering'))), NEXT_WITHIN_MS);
  try {
    for await (const event of eventsOf(answer)) {
      idle.refresh();
      yield `${JSON.stringify(event)}\n`;
    }
  } catch (error) {
    if (ended.aborted) return;
    ctx.log.info({ err: error }, 'the answer of an engine broke off');
    const message = error instanceof EngineError ? error.message : text('The answer broke off');
    yield `${JSON.stringify({ type: 'error', message } satisfies RunEvent)}\n`;
  } finally {
    clearTimeout(idle);
  }
}

/** The events of an answer in the format of OpenAI, as ours. A stream that ends without its end mark broke off. */
async function* eventsOf(answer: IncomingMessage): AsyncGenerator<RunEvent> {
  const messages = Readable.toWeb(answer)
    .pipeThrough(new TextDecoderStream() as never)
    .pipeThrough(new EventSourceParserStream({ maxBufferSize: 1_000_000 }) as never) as unknown as AsyncIterable<{
    data: string;
  }>;
  let reason: string | null = null;
  let usage: z.infer<typeof Chunk>['usage'] = null;
  for await (const { data } of messages) {
    if (data.trim() === '[DONE]') {
      yield {
        type: 'end',
        reason,
        promptTokens: usage?.prompt_tokens ?? null,
        answerTokens: usage?.completion_tokens ?? null,
      };
      return;
    }
    const chunk = Chunk.safeParse(jsonOf(data));
    if (!chunk.success) throw new EngineError(text('The engine answered something that is no chat'));
    usage = chunk.data.usage ?? usage;
    for (const { delta, finish_reason } of chunk.data.choices) {
      reason = finish_reason ?? reason;
      if (delta?.reasoning_content) yield { type: 'text', text: delta.reasoning_content, reasoning: true };
      if (delta?.content) yield { type: 'text', text: delta.content };
    }
  }
  throw new EngineError(text('The answer broke off'));
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

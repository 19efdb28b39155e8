import type { IncomingMessage } from 'node:http';
import type { RunEvent } from '@stagi/contract/modelEndpoints.ts';
import { text } from '@stagi/contract/text.ts';
import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { EngineError, partsOf, readShort } from './ask.ts';
import { jsonOf, ownReason } from './reason.ts';

/** Far above 8,192 tokens, each in an event of its own. */
const WHOLE_BYTES = 32 * 2 ** 20;
/** Of one event. */
const EVENT_CHARACTERS = 1_000_000;
const REASON_CHARACTERS = 100;

/** A count that no engine can mean is as good as none. */
const Tokens = z.int().min(0).max(1e9).nullish().catch(null);

const Said = z.object({ content: z.string().nullish(), reasoning_content: z.string().nullish() });

/** The fields that engines with the API of OpenAI send. Of the rest nothing is read. */
const Chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: Said.nullish(),
        /** In place of `delta` in an answer of one piece. */
        message: Said.nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z.object({ prompt_tokens: Tokens, completion_tokens: Tokens }).nullish().catch(null),
});
type Chunk = z.infer<typeof Chunk>;

/**
 * The events of an answer in the format of OpenAI, as ours. Throws EngineError where it is no chat, and where it ends
 * without its end mark; the reason of `signal` where that ended it.
 */
export async function* eventsOf(answer: IncomingMessage, signal: AbortSignal): AsyncGenerator<RunEvent> {
  const end: Extract<RunEvent, { type: 'end' }> = { type: 'end', reason: null, promptTokens: null, answerTokens: null };
  const isWhole = /^application\/json\b/i.test(answer.headers['content-type'] ?? '');
  for await (const data of isWhole ? wholeOf(answer, signal) : dataOf(answer, signal)) {
    if (data.trim() === '[DONE]') {
      yield end;
      return;
    }
    // Keeps the connection open while the engine reads the prompt.
    if (data.trim() === '') continue;
    const { choices, usage } = chunkIn(data);
    if (usage) {
      end.promptTokens = usage.prompt_tokens ?? null;
      end.answerTokens = usage.completion_tokens ?? null;
    }
    for (const { delta, message, finish_reason: reason } of choices ?? []) {
      if (reason) end.reason = reason.slice(0, REASON_CHARACTERS);
      const said = delta ?? message;
      if (said?.reasoning_content) yield { type: 'text', text: said.reasoning_content, reasoning: true };
      if (said?.content) yield { type: 'text', text: said.content };
    }
  }
  throw new EngineError(text('The answer broke off'));
}

/** The answer of an engine that does not stream, as if it were one event and the end mark. */
async function* wholeOf(answer: IncomingMessage, signal: AbortSignal): AsyncGenerator<string> {
  const whole = await readShort(answer, signal);
  if (chunkIn(whole).choices == null) throw new EngineError(NO_CHAT);
  yield whole;
  yield '[DONE]';
}

const NO_CHAT = text('The engine answered something that is no chat');

function chunkIn(data: string): Chunk {
  const json = jsonOf(data);
  if (json === null) throw new EngineError(text('The engine answered something that is no JSON'));
  const chunk = Chunk.safeParse(json);
  // Engines report what goes wrong in the middle of an answer as an event.
  if (!chunk.data?.choices) {
    const reason = ownReason(json);
    if (reason !== null) throw new EngineError(text('The engine refused: {{reason}}', { reason }));
  }
  if (!chunk.success) throw new EngineError(NO_CHAT);
  return chunk.data;
}

/** The data of server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
async function* dataOf(answer: IncomingMessage, signal: AbortSignal): AsyncGenerator<string> {
  const found: string[] = [];
  let isTooLong = false;
  const parser = createParser({
    onEvent: ({ data }) => found.push(data),
    onError: ({ type }) => {
      isTooLong ||= type === 'max-buffer-size-exceeded';
    },
    maxBufferSize: EVENT_CHARACTERS,
  });
  const decoder = new TextDecoder();
  for await (const part of partsOf(answer, WHOLE_BYTES, signal)) {
    parser.feed(decoder.decode(part, { stream: true }));
    yield* found.splice(0);
    if (isTooLong) throw new EngineError(text('The engine answered with more than it should'));
  }
}

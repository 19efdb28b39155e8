import type { IncomingMessage } from 'node:http';
import type { RunEvent } from '@stagi/contract/modelEndpoints.ts';
import { text } from '@stagi/contract/text.ts';
import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { EngineError, partsOf } from './ask.ts';
import { jsonOf, ownReason } from './reason.ts';

/** Far above 8,192 tokens, each in an event of its own. */
const WHOLE_BYTES = 32 * 2 ** 20;
/** Of one event. */
const EVENT_CHARACTERS = 1_000_000;
const REASON_CHARACTERS = 100;

/** A count that no engine can mean is as good as none. */
const Tokens = z.int().min(0).max(1e9).nullish().catch(null);

/** What engines with the API of OpenAI send. Of the rest nothing is read. */
const Chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish(), reasoning_content: z.string().nullish() }).nullish(),
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
  for await (const data of dataOf(answer, signal)) {
    if (data.trim() === '[DONE]') {
      yield end;
      return;
    }
    const { choices, usage } = chunkIn(data);
    if (usage) {
      end.promptTokens = usage.prompt_tokens ?? null;
      end.answerTokens = usage.completion_tokens ?? null;
    }
    for (const { delta, finish_reason: reason } of choices ?? []) {
      if (reason) end.reason = reason.slice(0, REASON_CHARACTERS);
      if (delta?.reasoning_content) yield { type: 'text', text: delta.reasoning_content, reasoning: true };
      if (delta?.content) yield { type: 'text', text: delta.content };
    }
  }
  throw new EngineError(text('The answer broke off'));
}

function chunkIn(data: string): Chunk {
  const json = jsonOf(data);
  const chunk = Chunk.safeParse(json);
  // Engines report what goes wrong in the middle of an answer as an event.
  if (!chunk.data?.choices) {
    const reason = ownReason(json);
    if (reason !== null) throw new EngineError(text('The engine refused: {{reason}}', { reason }));
  }
  if (!chunk.success) throw new EngineError(text('The engine answered something that is no chat'));
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

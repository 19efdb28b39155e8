import type { Llama, Message, Sampling } from './llama.ts';

/** What a client asks for (`POST /v1/chat/completions`), with llama-server's defaults for what it left out. */
export interface ChatRequest {
  prompt: Uint32Array;
  most: number;
  sampling: Sampling;
  stream: boolean;
  includeUsage: boolean;
}

/** An answer in the form of OpenAI's errors, with llama-server's types. */
export class ApiError extends Error {
  status: number;
  type: string;
  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
  get body() {
    return { error: { code: this.status, message: this.message, type: this.type } };
  }
}

const bad = (message: string) => new ApiError(400, 'invalid_request_error', message);

export function readChatRequest(text: string, llama: Llama): ChatRequest {
  const body = parse(text);
  const prompt = llama.promptOf(messagesOf(body.messages));
  const room = llama.context - prompt.length;
  if (room < 1)
    throw new ApiError(
      400,
      'exceed_context_size_error',
      `the request exceeds the available context size: ${prompt.length} tokens of ${llama.context}`,
    );
  const number = (name: string, otherwise: number, { least = 0, most = Number.POSITIVE_INFINITY } = {}) => {
    const value = body[name] ?? otherwise;
    if (typeof value !== 'number' || !(value >= least && value <= most))
      throw bad(`"${name}" must be a number from ${least}${most === Number.POSITIVE_INFINITY ? ' up' : ` to ${most}`}`);
    return value;
  };
  // Both mean "as long as there is room" when they are -1.
  const wanted = number('max_completion_tokens', number('max_tokens', -1, { least: -1 }), { least: -1 });
  const seed = number('seed', -1, { least: -1 });
  return {
    prompt,
    most: wanted < 0 ? room : Math.min(wanted, room),
    sampling: {
      temperature: number('temperature', 0.8),
      topK: number('top_k', 40),
      topP: number('top_p', 0.95, { most: 1 }),
      minP: number('min_p', 0.05, { most: 1 }),
      seed: (seed < 0 ? Math.floor(Math.random() * 2 ** 32) : seed) >>> 0,
    },
    stream: body.stream === true,
    includeUsage: (body.stream_options as { include_usage?: unknown } | undefined)?.include_usage === true,
  };
}

function parse(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null) return body as Record<string, unknown>;
  } catch {
    // Refused below, as other texts that are no object.
  }
  throw bad('the body must be a JSON object');
}

function messagesOf(value: unknown): Message[] {
  if (!Array.isArray(value) || value.length === 0) throw bad('"messages" must be an array with at least one message');
  return value.map((message) => {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
    if (typeof role !== 'string') throw bad('each message must have a "role"');
    return { role, content: textOf(content) };
  });
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw bad('the "content" of a message must be a text or an array of parts');
  return content
    .map((part: { type?: unknown; text?: unknown } | null) => {
      if (part?.type !== 'text' || typeof part.text !== 'string') throw bad('only parts of type "text" are understood');
      return part.text;
    })
    .join('');
}

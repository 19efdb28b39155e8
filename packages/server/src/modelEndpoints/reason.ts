import { text } from '@stagi/contract/text.ts';
import { z } from 'zod';

const MOST_CHARACTERS = 500;

/** How engines say what is wrong: OpenAI's form, vLLM's older one, and Ollama's. */
const Said = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ message: z.string() }).transform(({ message }) => message),
  z.object({ error: z.string() }).transform(({ error }) => error),
]);

/** The reason that an answer gives in an engine's own words, which are shown as text; null where it gives none. */
export function ownReason(answer: unknown): string | null {
  const said = Said.safeParse(answer).data?.trim();
  return said ? said.slice(0, MOST_CHARACTERS) : null;
}

/** Why an engine refused. */
export function reasonIn(body: string, status: number): string {
  const reason = ownReason(jsonOf(body));
  return reason === null
    ? text('The engine refused with {{status}}', { status })
    : text('The engine refused: {{reason}}', { reason });
}

/** Null where it is no JSON. */
export function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

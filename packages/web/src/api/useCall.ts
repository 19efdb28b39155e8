import { type Call, type InputOf, needsIdempotencyKey, type OutputOf } from '@stagi/contract/call.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { randomId } from '@stagi/contract/randomId.ts';
import { useRef, useState } from 'react';
import { call } from './client.ts';
import { toastFailure } from './messages.ts';

interface Handlers<C extends Call> {
  onDone?(output: OutputOf<C>, input: InputOf<C>): void;
  /** Handles a refusal. Returns true when it has been shown. */
  onRefused?(error: CallError): boolean;
}

export interface UseCall<C extends Call> {
  /** Resolves with the answer, or null when the call was refused and that has been shown. */
  run(input: InputOf<C>): Promise<OutputOf<C> | null>;
  loading: boolean;
  error: CallError | null;
}

/**
 * A call that changes something. Every refusal is shown once: by `onRefused`, by the client's toast,
 * or (400, which the client leaves to its caller) by a toast of ours.
 */
export function useCall<C extends Call>(of: C, { onDone, onRefused }: Handlers<C> = {}): UseCall<C> {
  const [running, setRunning] = useState(0);
  const [error, setError] = useState<CallError | null>(null);
  const unanswered = useRef<{ input: string; key: string } | null>(null);

  async function run(input: InputOf<C>): Promise<OutputOf<C> | null> {
    const key = needsIdempotencyKey(of.path) ? keyFor(JSON.stringify(input)) : undefined;
    setRunning((count) => count + 1);
    setError(null);
    try {
      const output = await call(of, input, { idempotencyKey: key, handlesMessages: onRefused !== undefined });
      unanswered.current = null;
      onDone?.(output, input);
      return output;
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      if (cause.status !== 0 && cause.status < 500) unanswered.current = null;
      setError(cause);
      const shown = onRefused?.(cause) ?? false;
      if (!shown && leftToCaller(cause, onRefused !== undefined)) toastFailure(cause);
      return null;
    } finally {
      setRunning((count) => count - 1);
    }
  }

  /** A retry after no answer keeps its idempotency key, so that the order is carried out once. */
  function keyFor(input: string): string {
    if (unanswered.current?.input !== input) unanswered.current = { input, key: randomId() };
    return unanswered.current.key;
  }

  return { run, loading: running > 0, error };
}

function leftToCaller(error: CallError, ownMessages: boolean): boolean {
  return error.status === 400 || (ownMessages && error.status === 200);
}

import type { Call, InputOf } from '@stagi/contract/call.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { toast } from '../ui/toasts.ts';
import { call } from './client.ts';
import { errorText } from './messages.ts';
import { invalidate } from './query.ts';

interface Handlers {
  /** The calls whose answers are read again, by the beginning of their path. */
  touches: readonly string[];
  /** What is said when all of them were accepted. */
  said(count: number): string;
}

export interface BulkCall<C extends Call> {
  /** Resolves when every one has been answered; true when none was refused. */
  run(inputs: readonly InputOf<C>[]): Promise<boolean>;
  loading: boolean;
}

/** So many at once, so that the other calls of the page still get their turn. */
const AT_ONCE = 4;

/** The same call for several things. At the end one message: that it is done, or how many were refused and why. */
export function useBulkCall<C extends Call>(of: C, { touches, said }: Handlers): BulkCall<C> {
  const t = useT();
  const [loading, setLoading] = useState(false);

  async function run(inputs: readonly InputOf<C>[]): Promise<boolean> {
    setLoading(true);
    const refusals = await refusalsOf(of, inputs);
    setLoading(false);
    void invalidate(...touches);
    const [first] = refusals;
    if (!first) toast.success(said(inputs.length));
    else
      toast.error(
        t('{{failed}} of {{all}} refused: {{reason}}', {
          failed: refusals.length,
          all: inputs.length,
          reason: errorText(first),
        }),
      );
    return refusals.length === 0;
  }

  return { run, loading };
}

async function refusalsOf<C extends Call>(of: C, inputs: readonly InputOf<C>[]): Promise<CallError[]> {
  const refusals: CallError[] = [];
  for (let at = 0; at < inputs.length; at += AT_ONCE) {
    const answers = await Promise.allSettled(
      inputs.slice(at, at + AT_ONCE).map((input) => call(of, input, { quiet: true })),
    );
    for (const answer of answers) {
      if (answer.status === 'fulfilled') continue;
      if (!(answer.reason instanceof CallError)) throw answer.reason;
      refusals.push(answer.reason);
    }
  }
  return refusals;
}

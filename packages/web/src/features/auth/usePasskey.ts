import { CallError } from '@stagi/contract/errors.ts';
import type { PasskeyAssertion, PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { answerWithPasskey, hasPasskeys } from '../../api/passkeys.ts';
import { useT } from '../../i18n/i18n.ts';

interface Steps {
  /** Fetches a challenge. */
  ask(): Promise<{ options: PasskeyRequest }>;
  /** Sends the answer. */
  show(assertion: PasskeyAssertion): Promise<void>;
  /** Takes a refusal over: return true when it has been shown. */
  onRefused?(error: CallError): boolean;
}

export interface PasskeyUse {
  run(): void;
  /** Sends an answer that came by another way than `run`. */
  give(assertion: PasskeyAssertion): void;
  loading: boolean;
  /** What went wrong at the last try, for beside the button. */
  problem: string | null;
}

/** One press: challenge, the browser's own dialog, answer. */
export function usePasskey({ ask, show, onRefused }: Steps): PasskeyUse {
  const t = useT();
  const [loading, setLoading] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function run(): Promise<void> {
    if (loading) return;
    setProblem(null);
    if (!hasPasskeys()) {
      setProblem(t('This browser cannot use passkeys here. Choose another way.'));
      return;
    }
    await going(async () => {
      const assertion = await answerWithPasskey((await ask()).options);
      if (assertion) await show(assertion);
      else setProblem(t('No passkey was used. Try again or choose another way.'));
    });
  }

  async function give(assertion: PasskeyAssertion): Promise<void> {
    setProblem(null);
    await going(() => show(assertion));
  }

  async function going(work: () => Promise<void>): Promise<void> {
    setLoading(true);
    try {
      await work();
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      // The client leaves these two to whoever made the call; of the others it has told.
      if (!onRefused?.(cause) && (cause.status === 400 || cause.status === 200)) setProblem(errorText(cause));
    } finally {
      setLoading(false);
    }
  }

  return { run: () => void run(), give: (assertion) => void give(assertion), loading, problem };
}

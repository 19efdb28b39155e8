import { CallError } from '@stagi/contract/errors.ts';
import type { PasskeyAssertion, PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { useState } from 'react';
import { errorText } from '../../api/messages.ts';
import { getPasskeyAssertion, hasPasskeys } from '../../api/passkeys.ts';
import { useT } from '../../i18n/i18n.ts';

interface Steps {
  /** Fetches a challenge. */
  ask(): Promise<{ options: PasskeyRequest }>;
  /** Sends the answer. */
  show(assertion: PasskeyAssertion): Promise<void>;
  /** Handles a refusal. Returns true when it has been shown. */
  onRefused?(error: CallError): boolean;
}

export interface PasskeyPrompt {
  run(): void;
  /** Sends an answer that did not come from `run`. */
  give(assertion: PasskeyAssertion): void;
  loading: boolean;
  /** The error of the last try, shown beside the button. */
  problem: string | null;
}

/** Asks the browser for a passkey: challenge, the browser's dialog, answer. */
export function usePasskey({ ask, show, onRefused }: Steps): PasskeyPrompt {
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
      const assertion = await getPasskeyAssertion((await ask()).options);
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
      // The client has shown every refusal but these two.
      if (!onRefused?.(cause) && (cause.status === 400 || cause.status === 200)) setProblem(errorText(cause));
    } finally {
      setLoading(false);
    }
  }

  return { run: () => void run(), give: (assertion) => void give(assertion), loading, problem };
}

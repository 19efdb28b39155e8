import type { PasskeyAssertion, PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { useEffect, useEffectEvent } from 'react';
import { canSuggestPasskeys, suggestPasskeys } from '../../api/passkeys.ts';
import { whenIdle } from '../../ui/whenIdle.ts';

/** A challenge holds five minutes. */
const RENEW_MS = 4 * 60_000;

interface Steps {
  /** Fetches a challenge. */
  ask(): Promise<{ options: PasskeyRequest }>;
  onPicked(assertion: PasskeyAssertion): void;
}

/** While `on`, the browser offers passkeys among its suggestions for the address; nothing is seen where it cannot. */
export function usePasskeySuggestions(on: boolean, { ask, onPicked }: Steps): void {
  const challenge = useEffectEvent(ask);
  const picked = useEffectEvent(onPicked);
  useEffect(() => {
    if (!on) return;
    const left = new AbortController();
    whenIdle(async () => {
      const assertion = await suggest(challenge, left.signal);
      if (assertion && !left.signal.aborted) picked(assertion);
    });
    return () => left.abort();
  }, [on]);
}

async function suggest(ask: Steps['ask'], left: AbortSignal): Promise<PasskeyAssertion | null> {
  if (left.aborted || !(await canSuggestPasskeys())) return null;
  while (!left.aborted) {
    await beingSeen(left);
    const { options } = await ask();
    const late = AbortSignal.timeout(RENEW_MS);
    const assertion = await suggestPasskeys(options, AbortSignal.any([left, late]));
    if (assertion || !late.aborted) return assertion;
  }
  return null;
}

/** A tab that nobody looks at asks for nothing. */
function beingSeen(left: AbortSignal): Promise<void> {
  if (document.visibilityState === 'visible') return Promise.resolve();
  return new Promise((resolve) => {
    const seen = new AbortController();
    const done = () => {
      seen.abort();
      resolve();
    };
    document.addEventListener('visibilitychange', done, { signal: seen.signal });
    left.addEventListener('abort', done, { signal: seen.signal });
  });
}

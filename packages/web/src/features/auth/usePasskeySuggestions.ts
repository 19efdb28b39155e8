import type { PasskeyAssertion, PasskeyRequest } from '@stagi/contract/passkeys.ts';
import { useEffect, useEffectEvent } from 'react';
import { hasPasskeys } from '../../api/passkeys.ts';
import { whenIdle } from '../../ui/whenIdle.ts';

interface Steps {
  /** Fetches a challenge. */
  ask(): Promise<{ options: PasskeyRequest }>;
  onPicked(assertion: PasskeyAssertion): void;
}

/** While `on`, the browser offers passkeys in the autofill of the email field, where it supports that. */
export function usePasskeySuggestions(on: boolean, { ask, onPicked }: Steps): void {
  const challenge = useEffectEvent(ask);
  const picked = useEffectEvent(onPicked);
  useEffect(() => {
    if (!on || !hasPasskeys()) return;
    const left = new AbortController();
    whenIdle(async () => {
      const { suggestedPasskey } = await import('./passkeySuggestions.ts');
      const assertion = await suggestedPasskey(challenge, left.signal);
      if (assertion && !left.signal.aborted) picked(assertion);
    });
    return () => left.abort();
  }, [on]);
}

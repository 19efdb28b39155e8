import type { PlatformMessage, RegistryAuth } from '@stagi/contract/daemon.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import { parseImage } from '@stagi/contract/imageReference.ts';
import type { LinkSession } from './linkSession.ts';
import { log } from './log.ts';

const ANSWER_TIMEOUT_MS = 10_000;

/** What to log in to a registry with; null: nothing; `unknown`: the platform cannot be asked now. */
export type PullAuth = RegistryAuth | null | 'unknown';

/** Credentials of registries: asked for with each pull, held in memory for it alone. */
export interface PullAuths {
  /** A link is up. `canAsk`: the platform answers the question. */
  attach(session: LinkSession, canAsk: boolean): void;
  ask(target: DesiredContainer): Promise<PullAuth>;
  receive(answer: Extract<PlatformMessage, { type: 'pull-auth' }>): void;
}

export function pullAuths(): PullAuths {
  let link: { session: LinkSession; canAsk: boolean } | null = null;
  const asked = new Map<string, (auth: PullAuth) => void>();
  const keyOf = ({ containerId, gen }: { containerId: number; gen: number }): string => `${containerId}/${gen}`;

  return {
    attach(session, canAsk) {
      link = { session, canAsk };
    },

    async ask({ id, gen, spec }) {
      if (!link || link.session.signal.aborted) return 'unknown';
      if (!link.canAsk) return null;
      const { session } = link;
      const key = keyOf({ containerId: id, gen });
      const { promise, resolve } = Promise.withResolvers<PullAuth>();
      const giveUp = () => resolve('unknown');
      const timer = setTimeout(giveUp, ANSWER_TIMEOUT_MS);
      session.signal.addEventListener('abort', giveUp, { once: true });
      asked.set(key, resolve);
      session.send({ type: 'pull-auth', containerId: id, gen });
      try {
        return forItsRegistry(await promise, spec.image);
      } finally {
        clearTimeout(timer);
        session.signal.removeEventListener('abort', giveUp);
        if (asked.get(key) === resolve) asked.delete(key);
      }
    },

    receive(answer) {
      asked.get(keyOf(answer))?.(answer.auth);
    },
  };
}

/** A credential goes to its own registry only, whatever the platform says. */
function forItsRegistry(auth: PullAuth, image: string): PullAuth {
  if (auth === null || auth === 'unknown' || parseImage(image)?.host === auth.serveraddress) return auth;
  log('the platform sent a credential for another registry: it is not used');
  return null;
}

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { asPerson, type Holder } from '../slots/holder.ts';
import { verifyAccessToken } from './accessToken.ts';

/** Credentials that are remembered. */
const KEPT = 20_000;

/**
 * Tells whose credential a call shows, without the database: a flood of strangers at the same address must not keep it
 * from being authenticated. It decides only whose share of the calls it takes.
 */
export interface KnownCallers {
  /** Null: nobody's, or one of an API token that was not shown here before. */
  holderOf(authorization: string | undefined): Promise<Holder | null>;
  /** Notes whose a credential is that was just authenticated. */
  remember(authorization: string, holder: Holder): void;
}

export function createKnownCallers({ keys }: Pick<Context, 'keys'>): KnownCallers {
  const known = new LRUCache<string, Holder>({ max: KEPT });
  return {
    async holderOf(authorization) {
      if (!authorization?.startsWith('Bearer ')) return null;
      const remembered = known.get(nameOf(authorization));
      if (remembered) return remembered;
      const claims = await verifyAccessToken(keys.access, authorization.slice('Bearer '.length));
      return claims && asPerson(claims.userId, null);
    },
    remember: (authorization, holder) => void known.set(nameOf(authorization), holder),
  };
}

/** Not the credential itself, so that memory holds none. */
const nameOf = (authorization: string): string => createHash('sha256').update(authorization).digest('base64');

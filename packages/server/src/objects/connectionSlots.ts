import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { S3Error } from '@stagi/s3/errors.ts';
import type { ConnectionSlots } from '@stagi/s3/service.ts';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import type { Release } from '../slots/fairSlots.ts';
import { asStranger, asWorkspace } from '../slots/holder.ts';
import { leastRate } from '../slots/leastRate.ts';

/** Access keys that have worked, so that strangers at their address do not hold them up. */
const KEYS_KEPT = 10_000;

/** A connection counts among those of its address until it has shown an access key, then among those of the workspace. */
export function createConnectionSlots({ slots }: Pick<Context, 'slots'>): ConnectionSlots {
  const open = new Map<Socket, { ownerId: string | null; release: Release }>();
  const knownKeys = new LRUCache<string, true>({ max: KEYS_KEPT });
  return {
    opened(socket) {
      const release = asRefusal(() =>
        slots.s3Connections.enter(asStranger(socket.remoteAddress ?? ''), () => socket.resetAndDestroy()),
      );
      if (release instanceof S3Error) return void socket.destroy();
      open.set(socket, { ownerId: null, release });
      socket.once('close', () => {
        open.get(socket)?.release();
        open.delete(socket);
      });
    },

    async begin(message) {
      const { socket } = message;
      if (open.get(socket)?.ownerId || knownKeys.has(claimedKey(message) ?? '')) return () => {};
      const gone = new AbortController();
      const leave = (): void => gone.abort();
      socket.once('close', leave);
      try {
        return await slots.s3Strangers.take(asStranger(socket.remoteAddress ?? ''), { signal: gone.signal });
      } catch (error) {
        throw error instanceof PublicError ? new S3Error('SlowDown') : error;
      } finally {
        socket.off('close', leave);
      }
    },

    authenticated({ socket }, { accessKeyId, owner }) {
      knownKeys.set(accessKeyId, true);
      const known = open.get(socket);
      // It was closed meanwhile, or its owner is the same.
      if (!known || known.ownerId === owner.id) return;
      known.release();
      const release = asRefusal(() => slots.s3Connections.enter(asWorkspace(owner.id)));
      if (release instanceof S3Error) throw release;
      open.set(socket, { ownerId: owner.id, release });
    },

    watch: (message, response) => leastRate.watchRequest(message, response, () => message.socket.resetAndDestroy()),
  };
}

const CREDENTIAL = 'Credential=';

/** The access key that a request names in its header or its link; whether it is its own is not known yet. */
function claimedKey({ headers: { authorization }, url }: IncomingMessage): string | null {
  const text = authorization ?? url ?? '';
  const at = text.indexOf(CREDENTIAL);
  return at < 0 ? null : (/^[A-Z0-9]{1,128}/.exec(text.slice(at + CREDENTIAL.length, at + 200))?.[0] ?? null);
}

function asRefusal(enter: () => Release): Release | S3Error {
  try {
    return enter();
  } catch (error) {
    if (error instanceof PublicError) return new S3Error('SlowDown');
    throw error;
  }
}

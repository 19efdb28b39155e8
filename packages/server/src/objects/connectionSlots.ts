import type { Socket } from 'node:net';
import { S3Error } from '@stagi/s3/errors.ts';
import type { ConnectionSlots } from '@stagi/s3/service.ts';
import type { Context } from '../context.ts';
import { PublicError } from '../http/errors.ts';
import type { Release } from '../slots/fairSlots.ts';
import { asStranger, asWorkspace } from '../slots/holder.ts';
import { leastRate } from '../slots/leastRate.ts';

/** A connection counts among those of its address until it has shown an access key, then among those of the workspace. */
export function createConnectionSlots({ slots: { s3Connections } }: Pick<Context, 'slots'>): ConnectionSlots {
  const open = new Map<Socket, { ownerId: string | null; release: Release }>();
  return {
    opened(socket) {
      const release = asRefusal(() =>
        s3Connections.enter(asStranger(socket.remoteAddress ?? ''), () => socket.resetAndDestroy()),
      );
      if (release instanceof S3Error) return void socket.destroy();
      open.set(socket, { ownerId: null, release });
      socket.once('close', () => {
        open.get(socket)?.release();
        open.delete(socket);
      });
    },
    authenticated(socket, ownerId) {
      const known = open.get(socket);
      // It was closed meanwhile, or its owner is the same.
      if (!known || known.ownerId === ownerId) return;
      known.release();
      const release = asRefusal(() => s3Connections.enter(asWorkspace(ownerId)));
      if (release instanceof S3Error) throw release;
      open.set(socket, { ownerId, release });
    },
    watch: (message, response) => leastRate.watchRequest(message, response, () => message.socket.resetAndDestroy()),
  };
}

function asRefusal(enter: () => Release): Release | S3Error {
  try {
    return enter();
  } catch (error) {
    if (error instanceof PublicError) return new S3Error('SlowDown');
    throw error;
  }
}

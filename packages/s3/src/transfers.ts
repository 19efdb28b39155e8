import type { Socket } from 'node:net';
import type { S3Backend } from './backend.ts';

/** So that a transfer ends within 2 s after its key was revoked. */
const CHECK_MS = 1_000;

export interface Transfers {
  begin(socket: Socket, accessKeyId: string): { end(): void };
  stop(): void;
}

/** Ends open transfers whose access key no longer works. `onError`: the keys could not be looked up. */
export function watchTransfers(backend: Pick<S3Backend, 'stillWorking'>, onError: (error: unknown) => void): Transfers {
  const open = new Map<object, { socket: Socket; accessKeyId: string }>();
  let isChecking = false;
  const timer = setInterval(() => void check(), CHECK_MS);

  async function check(): Promise<void> {
    if (open.size === 0 || isChecking) return;
    isChecking = true;
    try {
      const accessKeyIds = new Set([...open.values()].map((transfer) => transfer.accessKeyId));
      const working = await backend.stillWorking([...accessKeyIds]);
      for (const { socket, accessKeyId } of open.values())
        if (accessKeyIds.has(accessKeyId) && !working.has(accessKeyId))
          // Not `destroy`: the system would still deliver what it holds in the buffer of the socket.
          socket.resetAndDestroy();
    } catch (error) {
      onError(error);
    } finally {
      isChecking = false;
    }
  }

  return {
    begin(socket, accessKeyId) {
      const id = {};
      open.set(id, { socket, accessKeyId });
      return { end: () => void open.delete(id) };
    },
    stop: () => clearInterval(timer),
  };
}

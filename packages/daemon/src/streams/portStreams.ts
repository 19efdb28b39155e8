import { once } from 'node:events';
import { connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { ANY_ADDRESS } from '@stagi/contract/policy.ts';
import type { DesiredStore } from '../desiredState.ts';
import { RefusedStream, type StreamHandler } from './streamServer.ts';

const CONNECT_TIMEOUT_MS = 5000;

interface Deps {
  desired: DesiredStore;
  /** The address that this server's policy binds ports to. */
  portAddress(): Promise<string>;
}

/** Leads to the host port that the container's own is mapped to: what the desired state lists, and nothing else. */
export function portStreams({ desired, portAddress }: Deps): StreamHandler<'port'> {
  return async ({ containerId, port }, accept) => {
    const container = desired.current()?.containers.find(({ id }) => id === containerId);
    const mapping = container?.spec.ports.find((one) => one.container === port);
    if (!container || container.state === 'absent' || !mapping)
      throw new RefusedStream(404, 'There is no such port on this server');
    if (container.state !== 'running') throw new RefusedStream(409, 'The container is not running');
    const address = await portAddress();
    const socket = connect({
      host: address === ANY_ADDRESS ? '127.0.0.1' : address,
      port: mapping.host,
      allowHalfOpen: true,
      noDelay: true,
    });
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    } catch {
      socket.destroy();
      throw new RefusedStream(409, 'Nothing listens on this port');
    }
    const stream = accept();
    await Promise.all([pipeline(stream, socket), pipeline(socket, stream)]).catch(() => {
      socket.destroy();
      stream.destroy();
    });
  };
}

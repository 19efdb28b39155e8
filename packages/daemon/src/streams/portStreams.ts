import { once } from 'node:events';
import { connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { ActualContainer } from '@stagi/contract/daemon.ts';
import { PRIVATE_ADDRESS } from '@stagi/contract/hostConfig.ts';
import { ANY_ADDRESS } from '@stagi/contract/policy.ts';
import type { DesiredStore } from '../desiredState.ts';
import { RefusedStream, type StreamHandler } from './streamServer.ts';

const CONNECT_TIMEOUT_MS = 5000;

interface Deps {
  desired: DesiredStore;
  /** Our containers as Docker shows them. */
  actual(): readonly ActualContainer[];
}

/**
 * Leads to a port that the desired state lists, at the address that Docker bound it to: never to another program of this
 * server that listens on the same port of another address.
 */
export function portStreams({ desired, actual }: Deps): StreamHandler<'port'> {
  return async ({ containerId, port }, accept) => {
    const container = desired.current()?.containers.find(({ id }) => id === containerId);
    const mapping = container?.spec.ports.find((one) => one.container === port);
    if (!container || container.state === 'absent' || !mapping)
      throw new RefusedStream(404, 'There is no such port on this server');
    const seen = actual().find(({ id }) => id === containerId);
    if (container.state !== 'running' || seen?.state !== 'running')
      throw new RefusedStream(409, 'The container is not running');
    const bound = seen.ports?.find((one) => one.container === port && one.host === mapping.host);
    if (!bound) throw new RefusedStream(404, 'The container was created without this port');
    const socket = connect({
      host: bound.address === ANY_ADDRESS ? PRIVATE_ADDRESS : bound.address,
      port: bound.host,
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

import { Agent, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { PortAccess } from '../containerAccess/accessibleContainer.ts';

/** Shorter than servers keep idle connections, such as Node's 5 s. */
const IDLE_MS = 4_000;
const MAX_IDLE_PER_PORT = 16;

export interface PortAgentOptions extends ClientRequestArgs {
  target: PortAccess;
}

/** Connections to ports of containers: each is a stream to a daemon, and serves one request after another. */
export class PortAgent extends Agent {
  readonly #open: (target: PortAccess) => Promise<Duplex>;

  constructor(open: (target: PortAccess) => Promise<Duplex>) {
    super({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE_PER_PORT });
    this.#open = open;
  }

  override getName(options?: PortAgentOptions): string {
    const { instanceId, containerId, port } = options!.target;
    return `${instanceId}/${containerId}/${port}`;
  }

  override createConnection(
    { target }: PortAgentOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#open(target).then(
      (stream) => callback?.(null, asSocket(stream)),
      (error: Error) => callback?.(error, undefined as never),
    );
  }
}

export interface PortAgents {
  reusing: PortAgent;
  single: PortAgent;
}

/**
 * Connections that serve one request each. They do not say `Connection: close`: a server that answers before it has read
 * the body would close with the rest unread, which resets the connection and takes the answer back.
 */
export class SingleUseAgent extends PortAgent {
  override keepSocketAlive(): boolean {
    return false;
  }
}

/** What the HTTP client calls of a socket and a stream of HTTP/2 does not have. */
export function asSocket(stream: Duplex): Socket {
  const nothing = (): Duplex => stream;
  return Object.assign(stream, {
    setKeepAlive: nothing,
    setNoDelay: nothing,
    ref: nothing,
    unref: nothing,
  }) as unknown as Socket;
}

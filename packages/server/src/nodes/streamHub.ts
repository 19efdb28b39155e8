import { randomBytes, randomUUID } from 'node:crypto';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { bytesOnly } from '@stagi/contract/bytesOnly.ts';
import type { PlatformMessage } from '@stagi/contract/daemon.ts';
import {
  CONNECTION_WINDOW_BYTES,
  featuresOf,
  OPENING_HEADER,
  OPENING_SECONDS,
  REASON_HEADER,
  STREAM_WINDOW_BYTES,
  type StreamTarget,
} from '@stagi/contract/daemonStreams.ts';
import { COMMAND_AUDIENCE } from '@stagi/contract/desiredState.ts';
import { socketPair } from '@stagi/contract/socketPair.ts';
import { text } from '@stagi/contract/text.ts';
import { SignJWT } from 'jose';
import type { Logger } from 'pino';
import { createWebSocketStream, type WebSocket } from 'ws';
import type { Db } from '../db/schema.ts';
import type { SigningKeys } from '../sessions/signingKeys.ts';

/** How long a daemon may take to dial, and to answer an opening. */
const DIAL_TIMEOUT_MS = 10_000;
const OPEN_TIMEOUT_MS = 15_000;
const PING_MS = 10_000;
const PING_TIMEOUT_MS = 20_000;

export const AGENT_TOO_OLD = text('The agent of this server is too old for this: install it again');
export const HELD_ELSEWHERE = text('The link of this server is held by another process of the platform');

/** A stream was not opened. `status` is that of an HTTP answer to whoever asked for it. */
export class StreamRefused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A daemon's link in this process. */
export interface StreamingLink {
  instanceId: number;
  epoch: number;
  /** Of the daemon. */
  features: readonly string[];
  send(message: PlatformMessage): void;
}

/** Streams to the daemons whose links this process holds. */
export interface StreamHub {
  /** Makes a link known until the returned function is called, which ends its streams. A newer link replaces an older one. */
  register(link: StreamingLink): () => void;
  /** Takes the second socket of a daemon. False: no such ticket; the socket is to be closed. */
  accept(ticket: string, socket: WebSocket): boolean;
  /** Opens a stream. Throws StreamRefused. Destroying the stream resets it; ending it half-closes it. */
  open(instanceId: number, target: StreamTarget): Promise<Duplex>;
  /** The servers whose links this process holds. */
  instanceIds(): number[];
}

interface Held {
  link: StreamingLink;
  session: ClientHttp2Session | null;
  dialling: Promise<ClientHttp2Session> | null;
  ended: AbortController;
}

/** What the hub needs of the platform's context (which holds the hub). */
interface HubContext {
  db: Db;
  keys: SigningKeys;
  log: Logger;
}

export function createStreamHub(ctx: HubContext): StreamHub {
  const held = new Map<number, Held>();
  const tickets = new Map<string, (socket: WebSocket) => void>();

  async function sessionOf(one: Held): Promise<ClientHttp2Session> {
    if (one.session && !one.session.closed && !one.session.destroyed) return one.session;
    one.dialling ??= dial(one).finally(() => {
      one.dialling = null;
    });
    return one.dialling;
  }

  /** Asks the daemon to dial, and waits for its socket. */
  function dial(one: Held): Promise<ClientHttp2Session> {
    const ticket = randomBytes(32).toString('base64url');
    return new Promise((resolve, reject) => {
      const give = (how: () => void): void => {
        clearTimeout(timer);
        tickets.delete(ticket);
        one.ended.signal.removeEventListener('abort', lost);
        how();
      };
      const lost = (): void => give(() => reject(unreachable()));
      const timer = setTimeout(lost, DIAL_TIMEOUT_MS);
      one.ended.signal.addEventListener('abort', lost, { once: true });
      tickets.set(ticket, (socket) => {
        one.ended.signal.addEventListener('abort', () => socket.terminate(), { once: true });
        give(() =>
          openSession(ctx, socket).then((session) => {
            one.session = session;
            resolve(session);
          }, reject),
        );
      });
      one.link.send({ type: 'streams', epoch: one.link.epoch, ticket });
    });
  }

  async function open(instanceId: number, target: StreamTarget): Promise<Duplex> {
    const one = held.get(instanceId);
    if (!one) throw await whyNotHere(ctx, instanceId);
    if (!featuresOf(target).every((feature) => one.link.features.includes(feature)))
      throw new StreamRefused(503, AGENT_TOO_OLD);
    const document = await new SignJWT({
      node: String(instanceId),
      epoch: one.link.epoch,
      id: randomUUID(),
      open: target,
    })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'stream+jwt' })
      .setAudience(COMMAND_AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(`${OPENING_SECONDS}s`)
      .sign(ctx.keys.command.privateKey);
    return request(await sessionOf(one), document);
  }

  return {
    register(link) {
      const one: Held = { link, session: null, dialling: null, ended: new AbortController() };
      const before = held.get(link.instanceId);
      if (before && before.link.epoch > link.epoch) return () => {};
      before?.ended.abort();
      held.set(link.instanceId, one);
      return () => {
        one.ended.abort();
        if (held.get(link.instanceId) === one) held.delete(link.instanceId);
      };
    },
    accept(ticket, socket) {
      const take = tickets.get(ticket);
      take?.(socket);
      return take !== undefined;
    },
    open,
    instanceIds: () => [...held.keys()],
  };
}

/** The platform's end of the second socket. */
async function openSession(ctx: Pick<HubContext, 'log'>, socket: WebSocket): Promise<ClientHttp2Session> {
  // At once: the first bytes would be lost.
  const wire = createWebSocketStream(socket);
  const [near, far] = await socketPair();
  pipeline(wire, far, wire)
    .catch((error: unknown) => ctx.log.debug({ err: error }, 'streams of a daemon ended'))
    .finally(() => near.destroy());
  // The daemon's socket has ended: the session would notice at its next ping.
  near.once('end', () => near.destroy());
  const session = connect('http://daemon', {
    createConnection: () => near,
    settings: { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false },
  });
  session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
  // What waits in an open stream gets the error of that stream.
  session.on('error', (error) => ctx.log.debug({ err: error }, 'streams of a daemon ended'));
  let lastAnswerAt = Date.now();
  const pings = setInterval(() => {
    if (Date.now() - lastAnswerAt > PING_TIMEOUT_MS + PING_MS) return socket.terminate();
    session.ping((error) => {
      if (!error) lastAnswerAt = Date.now();
    });
  }, PING_MS);
  session.on('close', () => {
    clearInterval(pings);
    socket.terminate();
  });
  return session;
}

function request(session: ClientHttp2Session, document: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': 'POST', ':path': '/', [OPENING_HEADER]: document });
    const timer = setTimeout(() => {
      stream.close(constants.NGHTTP2_CANCEL);
      reject(unreachable());
    }, OPEN_TIMEOUT_MS);
    stream.once('error', () => {
      clearTimeout(timer);
      reject(unreachable());
    });
    stream.once('response', (headers) => {
      clearTimeout(timer);
      if (headers[':status'] === 200) return resolve(bytesOnly(stream));
      const reason = headers[REASON_HEADER];
      stream.close(constants.NGHTTP2_NO_ERROR);
      reject(new StreamRefused(headers[':status'] ?? 503, decodeReason(reason)));
    });
  });
}

function decodeReason(reason: unknown): string {
  try {
    return decodeURIComponent(String(reason)).slice(0, 500);
  } catch {
    return text('Its server refused');
  }
}

const unreachable = (): StreamRefused => new StreamRefused(503, text('Its server cannot be reached'));

/** The daemon of the server is connected to another process, or to none. */
async function whyNotHere({ db }: Pick<HubContext, 'db'>, instanceId: number): Promise<StreamRefused> {
  const node = await db
    .selectFrom('daemon_node')
    .select(['connected_at', 'disconnected_at'])
    .where('instance_id', '=', instanceId)
    .executeTakeFirst();
  const isElsewhere = node?.connected_at && !node.disconnected_at;
  return isElsewhere ? new StreamRefused(503, HELD_ELSEWHERE) : unreachable();
}

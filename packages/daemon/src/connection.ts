import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type DaemonMessage, MAX_FRAME_BYTES, PlatformMessage } from '@stagi/contract/daemon.ts';
import { type DataFrame, encodeFrame } from '@stagi/contract/frames.ts';
import { WebSocket } from 'ws';
import { backOff, pause } from './deadline.ts';
import { answerChallenge, type Identity } from './identity.ts';
import { reasonOf, say } from './log.ts';
import { VERSION } from './version.ts';

const PING_MS = 10_000;
/** Three pings without any sign of life: the other end is gone even if the kernel does not know yet. */
const SILENCE_MS = 30_000;
const HANDSHAKE_MS = 15_000;
const GOODBYE_MS = 1000;
const RETRY_CAP_MS = 20_000;
/** A link that lived this long was a good one; the next failure starts counting anew. */
const STEADY_MS = 30_000;
const BUFFER_FULL_BYTES = 4 * 1024 * 1024;
const BUFFER_LOW_BYTES = 1024 * 1024;

/** A link that the platform has welcomed. */
export interface Session {
  /** Aborted when the link is gone; after that the two below do nothing. */
  readonly signal: AbortSignal;
  send(message: DaemonMessage): void;
  sendBytes(frame: DataFrame): void;
  /** Resolves when the socket can take more, or is gone. */
  writable(): Promise<void>;
}

export interface Party {
  /** Called once a link stands; the first message to send is the hello. */
  welcomed(session: Session, welcome: Extract<PlatformMessage, { type: 'welcome' }>): Promise<void>;
  received(message: PlatformMessage, session: Session): void;
}

type Ending = { kind: 'lost'; reason: string; waitMs?: number } | { kind: 'revoked'; reason: string };

/** Keeps a link up until the signal is aborted or the platform disowns this server. */
export async function stayConnected(
  identity: Identity,
  key: KeyObject,
  party: Party,
  signal: AbortSignal,
): Promise<'stopped' | 'revoked'> {
  for (let failures = 0; !signal.aborted; ) {
    const begun = performance.now();
    const ending = await connectOnce(identity, key, party, signal);
    if (signal.aborted) break;
    say(`link to ${identity.origin}: ${ending.reason}`);
    if (ending.kind === 'revoked') return 'revoked';
    failures = performance.now() - begun > STEADY_MS ? 0 : failures + 1;
    await pause(ending.waitMs ?? backOff(Math.max(0, failures - 1), RETRY_CAP_MS), signal);
  }
  return 'stopped';
}

/** One link, from dialling to its end; never throws. */
function connectOnce(identity: Identity, key: KeyObject, party: Party, signal: AbortSignal): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  const socket = new WebSocket(`${identity.origin.replace(/^http/, 'ws')}/daemon-api/link`, {
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
    headers: { 'user-agent': `stagid/${VERSION}` },
  });
  const live = liveSession(socket);
  let ending: Ending | null = null;
  const begun = performance.now();
  let heard = begun;
  let welcomed = false;
  const finish = (how: Ending) => {
    ending ??= how;
    socket.terminate();
  };
  const leave = (code: number, reason: string) => {
    socket.close(code, reason);
    // Its own patience with a peer that does not answer the goodbye is half a minute.
    setTimeout(() => socket.terminate(), GOODBYE_MS).unref();
  };
  const stop = () => leave(1001, 'stopping');
  signal.addEventListener('abort', stop, { once: true });
  const pulse = setInterval(() => {
    if (performance.now() - heard > SILENCE_MS || (!welcomed && performance.now() - begun > SILENCE_MS))
      finish({ kind: 'lost', reason: 'the platform went silent' });
    else if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, PING_MS);

  const heardNow = () => {
    heard = performance.now();
  };
  socket.on('ping', heardNow);
  socket.on('pong', heardNow);
  socket.on('unexpected-response', (_request, response) => finish(refusal(response)));
  socket.on('error', (error) => finish({ kind: 'lost', reason: reasonOf(error) }));
  socket.on('close', (code, reason) => {
    clearInterval(pulse);
    signal.removeEventListener('abort', stop);
    live.end();
    resolve(ending ?? { kind: 'lost', reason: `closed by the platform (${code} ${reason.toString()})` });
  });
  socket.on('message', (data, isBinary) => {
    heardNow();
    if (isBinary) return;
    const message = parse(data.toString());
    if (!message) return;
    switch (message.type) {
      case 'challenge':
        answerChallenge(identity, key, message.nonce).then(
          (proof) => live.session.send({ type: 'auth', node: identity.node, proof }),
          (error: unknown) => finish({ kind: 'lost', reason: reasonOf(error) }),
        );
        break;
      case 'welcome':
        welcomed = true;
        say(`link to ${identity.origin} is up`);
        party
          .welcomed(live.session, message)
          .catch((error: unknown) => finish({ kind: 'lost', reason: reasonOf(error) }));
        break;
      case 'revoked':
        finish({ kind: 'revoked', reason: `this server was taken out of the platform: ${message.reason}` });
        break;
      case 'drain':
        // The platform chose the time; a little of our own keeps many servers apart.
        ending = {
          kind: 'lost',
          reason: 'the platform restarts',
          waitMs: message.reconnectAfterMs + Math.random() * 1000,
        };
        leave(1000, 'drained');
        break;
      default:
        party.received(message, live.session);
    }
  });
  return promise;
}

function parse(text: string): PlatformMessage | null {
  try {
    return PlatformMessage.parse(JSON.parse(text));
  } catch (error) {
    // A newer platform may say things that this version does not know yet.
    say(`a message of the platform was not understood: ${reasonOf(error)}`);
    return null;
  }
}

/** A platform under load says when to come back. */
function refusal(response: IncomingMessage): Ending {
  const seconds = Number(response.headers['retry-after']);
  const reason = `the platform answered ${response.statusCode}`;
  if (!(seconds > 0)) return { kind: 'lost', reason };
  return { kind: 'lost', reason, waitMs: Math.min(seconds, 300) * 1000 * (1 + Math.random()) };
}

function liveSession(socket: WebSocket): { session: Session; end(): void } {
  const gone = new AbortController();
  let waiting: (() => void)[] = [];
  const release = () => {
    const those = waiting;
    waiting = [];
    for (const resolve of those) resolve();
  };
  const sent = () => {
    if (waiting.length > 0 && socket.bufferedAmount < BUFFER_LOW_BYTES) release();
  };
  return {
    session: {
      signal: gone.signal,
      send(message) {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message), sent);
      },
      sendBytes(frame) {
        if (socket.readyState === WebSocket.OPEN) socket.send(encodeFrame(frame), sent);
      },
      writable() {
        if (gone.signal.aborted || socket.bufferedAmount < BUFFER_FULL_BYTES) return Promise.resolve();
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.push(resolve);
        return promise;
      },
    },
    end() {
      gone.abort();
      release();
    },
  };
}

import type { IncomingMessage } from 'node:http';
import { MAX_FRAME_BYTES, PlatformMessage } from '@stagi/contract/daemon.ts';
import { WebSocket } from 'ws';
import { verifyRevocation } from './desiredState.ts';
import { answerChallenge, type Identity } from './identity.ts';
import type { Keyring } from './keyring.ts';
import { type LinkSession, openLinkSession } from './linkSession.ts';
import { errorText, log } from './log.ts';
import { waitUntilReachable, waitUntilStable } from './reachability.ts';
import { backoffMs, sleep } from './timing.ts';
import { VERSION } from './version.ts';

const PING_MS = 5000;
const SILENCE_CHECK_MS = 1000;
/**
 * After this much silence the platform is probed over another connection. When it answers there, this connection is
 * dead.
 */
const PROBE_AFTER_SILENCE_MS = 7000;
const PROBES_NEEDED = 2;
/** A check that comes this late means that this process was suspended. */
const SUSPENDED_MS = 4000;
/** After this much silence the connection is given up, whatever the probes say. */
const SILENCE_TIMEOUT_MS = 30_000;
const HANDSHAKE_TIMEOUT_MS = 15_000;
const PROBE_HANDSHAKE_AFTER_MS = 3000;
const HANDSHAKE_GRACE_MS = 1000;
const CLOSE_TIMEOUT_MS = 1000;
const RECONNECT_BACKOFF_CAP_MS = 20_000;
/** Keeps many servers from reconnecting at the moment when their common network is back. */
const RECONNECT_JITTER_MS = 1000;
/** A link that lived this long resets the count of failures, and with it the backoff. */
const STABLE_LINK_MS = 30_000;
const UNKNOWN_KEY_CLOSE_CODE = 4401;
/** RFC 6455, 7.4.1: the connection ended without a close frame. */
const ABNORMAL_CLOSURE = 1006;

export interface LinkHandlers {
  /** Called when the handshake is complete; the first message to send is the hello. */
  onWelcome(session: LinkSession, welcome: Welcome, nonce: string): Promise<void>;
  onMessage(message: PlatformMessage, session: LinkSession): void;
}
export type Welcome = Extract<PlatformMessage, { type: 'welcome' }>;

/** Why a link ended. `network`: the connection broke, the platform did not close it. */
type Disconnect =
  | { kind: 'lost'; reason: string; waitMs?: number; network?: boolean }
  | { kind: 'revoked'; reason: string };

/** Connects, and reconnects with backoff, until the signal is aborted or the platform revokes this server. */
export async function keepConnected(
  identity: Identity,
  keys: Keyring,
  handlers: LinkHandlers,
  signal: AbortSignal,
): Promise<'stopped' | 'revoked'> {
  for (let failures = 0; !signal.aborted; ) {
    const startedAt = performance.now();
    const disconnect = await connectOnce(identity, keys, handlers, signal);
    if (signal.aborted) break;
    log(`link to ${identity.origin}: ${disconnect.reason}`);
    if (disconnect.kind === 'revoked') return 'revoked';
    failures = performance.now() - startedAt > STABLE_LINK_MS ? 0 : failures + 1;
    if (await waitToReconnect(disconnect, failures, identity.origin, signal)) failures = 0;
  }
  return 'stopped';
}

/**
 * Waits as long as the platform asked for, else for a backoff with full jitter. After a network failure it returns
 * early, with true, as soon as the platform can be reached again.
 */
async function waitToReconnect(
  disconnect: Extract<Disconnect, { kind: 'lost' }>,
  failures: number,
  origin: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!disconnect.network) {
    await sleep(disconnect.waitMs ?? backoffMs(Math.max(0, failures - 1), RECONNECT_BACKOFF_CAP_MS), signal);
    return false;
  }
  const settled = new AbortController();
  const until = AbortSignal.any([signal, settled.signal]);
  const isReachable = await Promise.race([
    waitUntilReachable(origin, true, until).then(() => true),
    sleep(backoffMs(Math.max(0, failures - 1), RECONNECT_BACKOFF_CAP_MS), until).then(() => false),
  ]);
  settled.abort();
  if (isReachable) await sleep(Math.random() * RECONNECT_JITTER_MS, signal);
  return isReachable;
}

/** One link, from the handshake to the disconnect; never throws. */
function connectOnce(
  identity: Identity,
  keys: Keyring,
  handlers: LinkHandlers,
  signal: AbortSignal,
): Promise<Disconnect> {
  const { promise, resolve } = Promise.withResolvers<Disconnect>();
  const socket = new WebSocket(`${identity.origin.replace(/^http/, 'ws')}/daemon-api/link`, {
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    headers: { 'user-agent': `stagid/${VERSION}` },
  });
  const { session, end } = openLinkSession(socket);
  let key = keys.current();
  let revocationVerified: Promise<void> = Promise.resolve();
  const closed = new AbortController();
  let disconnect: Disconnect | null = null;
  const startedAt = performance.now();
  let lastHeardAt = startedAt;
  let lastBytesRead = 0;
  let bytesRead = () => 0;
  let nonce = '';
  let welcomed = false;
  let epoch = 0;
  let isProbing = false;
  const finish = (why: Disconnect) => {
    disconnect ??= why;
    socket.terminate();
  };
  const closeGracefully = (code: number, reason: string) => {
    socket.close(code, reason);
    // `ws` itself waits half a minute for a peer that does not answer the close frame.
    setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
  };
  const stop = () => closeGracefully(1001, 'stopping');
  signal.addEventListener('abort', stop, { once: true });
  const lose = (reason: string) => finish({ kind: 'lost', reason, network: true });
  let checkedAt = startedAt;
  const silenceCheck = setInterval(() => {
    // A process that was suspended cannot tell how long the platform was silent.
    if (performance.now() - checkedAt > SUSPENDED_MS) lastHeardAt = performance.now();
    checkedAt = performance.now();
    // On a slow link a long frame shows life by its first bytes, long before it is complete.
    if (bytesRead() !== lastBytesRead) {
      lastBytesRead = bytesRead();
      lastHeardAt = performance.now();
    }
    const silentMs = performance.now() - lastHeardAt;
    if (silentMs > SILENCE_TIMEOUT_MS || (!welcomed && performance.now() - startedAt > SILENCE_TIMEOUT_MS))
      lose('the platform went silent');
    else if (silentMs > PROBE_AFTER_SILENCE_MS && welcomed) void probe(lastHeardAt);
  }, SILENCE_CHECK_MS);
  const pings = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, PING_MS);
  const handshakeProbe = setTimeout(() => void probeHandshake(), PROBE_HANDSHAKE_AFTER_MS);

  async function probe(silentSince: number): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    await waitUntilStable(identity.origin, PROBES_NEEDED, closed.signal);
    isProbing = false;
    if (!closed.signal.aborted && lastHeardAt === silentSince && bytesRead() === lastBytesRead)
      lose('the connection is dead while the platform answers');
  }
  /** TCP retransmits ever more slowly after an outage: a new connection is faster than waiting for this one. */
  async function probeHandshake(): Promise<void> {
    await waitUntilReachable(identity.origin, false, closed.signal);
    await sleep(HANDSHAKE_GRACE_MS, closed.signal);
    if (!welcomed) lose('the platform answers again');
  }

  socket.on('upgrade', ({ socket: stream }) => {
    bytesRead = () => stream.bytesRead;
  });
  socket.on('unexpected-response', (_request, response) => finish(refusedHandshake(response)));
  socket.on('error', (error) => finish({ kind: 'lost', reason: errorText(error), network: true }));
  socket.on('close', (code, reason) => {
    clearInterval(silenceCheck);
    clearInterval(pings);
    clearTimeout(handshakeProbe);
    closed.abort();
    signal.removeEventListener('abort', stop);
    end();
    if (code === UNKNOWN_KEY_CLOSE_CODE) keys.rejected(key);
    const how = `closed by the platform (${code} ${reason.toString()})`;
    void revocationVerified.then(() =>
      resolve(disconnect ?? { kind: 'lost', reason: how, network: code === ABNORMAL_CLOSURE }),
    );
  });
  socket.on('message', (data, isBinary) => {
    if (isBinary) return;
    const message = parseMessage(data.toString());
    if (!message) return;
    switch (message.type) {
      case 'challenge':
        // Also sent before the current proof expires.
        nonce = message.nonce;
        key = keys.current();
        answerChallenge(identity, key, nonce).then(
          (proof) => session.send({ type: 'auth', node: identity.node, proof }),
          (error: unknown) => finish({ kind: 'lost', reason: errorText(error) }),
        );
        break;
      case 'welcome':
        if (welcomed) break;
        welcomed = true;
        epoch = message.epoch;
        clearTimeout(handshakeProbe);
        log(`link to ${identity.origin} is up`);
        keys
          .accepted(key)
          .then(() => handlers.onWelcome(session, message, nonce))
          .catch((error: unknown) => finish({ kind: 'lost', reason: errorText(error) }));
        break;
      case 'revoked':
        // A proxy in between could send this message, but only the platform can sign the document.
        revocationVerified = verifyRevocation(message.document, identity).then(
          () => finish({ kind: 'revoked', reason: `this server was taken out of the platform: ${message.reason}` }),
          (error: unknown) =>
            finish({ kind: 'lost', reason: `the revocation is not the platform's: ${errorText(error)}` }),
        );
        break;
      case 'drain':
        // The platform chose the time; the jitter keeps its servers from reconnecting all at once.
        disconnect = {
          kind: 'lost',
          reason: 'the platform restarts',
          waitMs: message.reconnectAfterMs + Math.random() * 1000,
        };
        closeGracefully(1000, 'drained');
        break;
      default:
        // Fencing: a message of an earlier link must not change the state of this one.
        if ('epoch' in message && message.epoch !== epoch) break;
        handlers.onMessage(message, session);
    }
  });
  return promise;
}

function parseMessage(text: string): PlatformMessage | null {
  try {
    return PlatformMessage.parse(JSON.parse(text));
  } catch (error) {
    // A newer platform may send message types that this version does not know.
    log(`a message of the platform was not understood: ${errorText(error)}`);
    return null;
  }
}

/** An overloaded platform answers with Retry-After, here with jitter so that its servers spread out. */
function refusedHandshake(response: IncomingMessage): Disconnect {
  const seconds = Number(response.headers['retry-after']);
  const reason = `the platform answered ${response.statusCode}`;
  if (!(seconds > 0)) return { kind: 'lost', reason };
  return { kind: 'lost', reason, waitMs: Math.min(seconds, 300) * 1000 * (1 + Math.random()) };
}

import type { IncomingMessage } from 'node:http';
import { MAX_FRAME_BYTES, PlatformMessage } from '@stagi/contract/daemon.ts';
import { WebSocket } from 'ws';
import { backOff, pause } from './deadline.ts';
import { verifyRevocation } from './desired.ts';
import { answerChallenge, type Identity } from './identity.ts';
import type { Keyring } from './keyring.ts';
import { reasonOf, say } from './log.ts';
import { untilBack, untilSteady } from './reach.ts';
import { openSession, type Session } from './session.ts';
import { VERSION } from './version.ts';

const PING_MS = 5000;
const LOOK_MS = 1000;
/** After this much silence the platform is asked over another connection: when it answers there, this one is dead. */
const DOUBT_MS = 7000;
const PROOFS = 2;
const SLEPT_MS = 4000;
/** The other end is gone even if nothing can be asked. */
const SILENCE_MS = 30_000;
const HANDSHAKE_MS = 15_000;
const HANDSHAKE_DOUBT_MS = 3000;
const HANDSHAKE_GRACE_MS = 1000;
const GOODBYE_MS = 1000;
const RETRY_CAP_MS = 20_000;
/** Many servers see the network come back at one moment. */
const RETURN_SPREAD_MS = 1000;
/** A link that lived this long was a good one; the next failure starts counting anew. */
const STEADY_MS = 30_000;
const KEY_NOT_KNOWN = 4401;
/** What `ws` calls a connection that ended without a close frame. */
const NO_GOODBYE = 1006;

export interface Party {
  /** Called once a link stands; the first message to send is the hello. */
  welcomed(session: Session, welcome: Welcome, nonce: string): Promise<void>;
  received(message: PlatformMessage, session: Session): void;
}
export type Welcome = Extract<PlatformMessage, { type: 'welcome' }>;

/** `network`: nothing that the platform said ended it. */
type Ending =
  | { kind: 'lost'; reason: string; waitMs?: number; network?: boolean }
  | { kind: 'revoked'; reason: string };

/** Keeps a link up until the signal is aborted or the platform disowns this server. */
export async function stayConnected(
  identity: Identity,
  keys: Keyring,
  party: Party,
  signal: AbortSignal,
): Promise<'stopped' | 'revoked'> {
  for (let failures = 0; !signal.aborted; ) {
    const begun = performance.now();
    const ending = await connectOnce(identity, keys, party, signal);
    if (signal.aborted) break;
    say(`link to ${identity.origin}: ${ending.reason}`);
    if (ending.kind === 'revoked') return 'revoked';
    failures = performance.now() - begun > STEADY_MS ? 0 : failures + 1;
    if (await isBack(ending, failures, identity.origin, signal)) failures = 0;
  }
  return 'stopped';
}

/**
 * Waits as long as the platform asked for, else with full jitter. What the network ended is tried again as soon as the
 * platform answers: then the answer is true.
 */
async function isBack(
  ending: Extract<Ending, { kind: 'lost' }>,
  failures: number,
  origin: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!ending.network) {
    await pause(ending.waitMs ?? backOff(Math.max(0, failures - 1), RETRY_CAP_MS), signal);
    return false;
  }
  const enough = new AbortController();
  const until = AbortSignal.any([signal, enough.signal]);
  const back = await Promise.race([
    untilBack(origin, true, until).then(() => true),
    pause(backOff(Math.max(0, failures - 1), RETRY_CAP_MS), until).then(() => false),
  ]);
  enough.abort();
  if (back) await pause(Math.random() * RETURN_SPREAD_MS, signal);
  return back;
}

/** One link, from dialling to its end; never throws. */
function connectOnce(identity: Identity, keys: Keyring, party: Party, signal: AbortSignal): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  const socket = new WebSocket(`${identity.origin.replace(/^http/, 'ws')}/daemon-api/link`, {
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
    headers: { 'user-agent': `stagid/${VERSION}` },
  });
  const live = openSession(socket);
  let key = keys.now();
  let farewell: Promise<void> = Promise.resolve();
  const over = new AbortController();
  let ending: Ending | null = null;
  const begun = performance.now();
  let heard = begun;
  let heardBytes = 0;
  let bytesRead = () => 0;
  let nonce = '';
  let welcomed = false;
  let epoch = 0;
  let doubting = false;
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
  const lostInSilence = (reason: string) => finish({ kind: 'lost', reason, network: true });
  let lookedAt = begun;
  const look = setInterval(() => {
    // Who slept himself cannot tell who was silent.
    if (performance.now() - lookedAt > SLEPT_MS) heard = performance.now();
    lookedAt = performance.now();
    // A long frame on a slow link is a sign of life long before its end.
    if (bytesRead() !== heardBytes) {
      heardBytes = bytesRead();
      heard = performance.now();
    }
    const silent = performance.now() - heard;
    if (silent > SILENCE_MS || (!welcomed && performance.now() - begun > SILENCE_MS))
      lostInSilence('the platform went silent');
    else if (silent > DOUBT_MS && welcomed) void doubt(heard);
  }, LOOK_MS);
  const pings = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, PING_MS);
  const impatience = setTimeout(() => void doubtHandshake(), HANDSHAKE_DOUBT_MS);

  async function doubt(since: number): Promise<void> {
    if (doubting) return;
    doubting = true;
    await untilSteady(identity.origin, PROOFS, over.signal);
    doubting = false;
    if (!over.signal.aborted && heard === since && bytesRead() === heardBytes)
      lostInSilence('the connection is dead while the platform answers');
  }
  /** What was sent into a dead network is sent again ever more slowly: a fresh start is sooner there. */
  async function doubtHandshake(): Promise<void> {
    await untilBack(identity.origin, false, over.signal);
    await pause(HANDSHAKE_GRACE_MS, over.signal);
    if (!welcomed) lostInSilence('the platform answers again');
  }

  socket.on('upgrade', ({ socket: stream }) => {
    bytesRead = () => stream.bytesRead;
  });
  socket.on('unexpected-response', (_request, response) => finish(refusal(response)));
  socket.on('error', (error) => finish({ kind: 'lost', reason: reasonOf(error), network: true }));
  socket.on('close', (code, reason) => {
    clearInterval(look);
    clearInterval(pings);
    clearTimeout(impatience);
    over.abort();
    signal.removeEventListener('abort', stop);
    live.end();
    if (code === KEY_NOT_KNOWN) keys.refused(key);
    const how = `closed by the platform (${code} ${reason.toString()})`;
    void farewell.then(() => resolve(ending ?? { kind: 'lost', reason: how, network: code === NO_GOODBYE }));
  });
  socket.on('message', (data, isBinary) => {
    if (isBinary) return;
    const message = parse(data.toString());
    if (!message) return;
    switch (message.type) {
      case 'challenge':
        // Comes again before the proof that was given runs out.
        nonce = message.nonce;
        key = keys.now();
        answerChallenge(identity, key, nonce).then(
          (proof) => live.session.send({ type: 'auth', node: identity.node, proof }),
          (error: unknown) => finish({ kind: 'lost', reason: reasonOf(error) }),
        );
        break;
      case 'welcome':
        if (welcomed) break;
        welcomed = true;
        epoch = message.epoch;
        clearTimeout(impatience);
        say(`link to ${identity.origin} is up`);
        keys
          .accepted(key)
          .then(() => party.welcomed(live.session, message, nonce))
          .catch((error: unknown) => finish({ kind: 'lost', reason: reasonOf(error) }));
        break;
      case 'revoked':
        // Whoever sits in between could say so; only the platform can sign it.
        farewell = verifyRevocation(message.document, identity).then(
          () => finish({ kind: 'revoked', reason: `this server was taken out of the platform: ${message.reason}` }),
          (error: unknown) => finish({ kind: 'lost', reason: `a false farewell: ${reasonOf(error)}` }),
        );
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
        // A network that repeats itself must not move what an earlier link left behind.
        if ('epoch' in message && message.epoch !== epoch) break;
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

import { randomBytes } from 'node:crypto';
import { type DaemonMessage, type Inventory, type PlatformMessage, PULL_AUTH_FEATURE } from '@stagi/contract/daemon.ts';
import { HEARTBEAT_S } from '@stagi/contract/instances.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { logRefusal } from '../http/refusalLog.ts';
import { daemonConnected, daemonDisconnected } from '../instances/daemonSignals.ts';
import type { WaitUntilDurable } from '../logging/logDurability.ts';
import { type LogReceiver, receiveLogs } from '../logging/receiveLogs.ts';
import { limitConcurrency } from '../loops/concurrency.ts';
import { pullAuthOf } from '../registries/pullAuth.ts';
import { asStranger } from '../slots/holder.ts';
import type { UsageRecorder } from '../usageSamples/record.ts';
import { coalesce } from './coalesce.ts';
import type { Heartbeats } from './heartbeats.ts';
import type { LinkRateLimit } from './linkRateLimit.ts';
import { readUpdates } from './linkUpdates.ts';
import { connectNode, disconnectNode, type NodeConnection, verifyRenewal } from './nodeConnection.ts';
import { rotateKey, signRevocation } from './nodeKeys.ts';
import { observeFailure, observeHello, observeInventory, observeProgress, observeResult } from './observe.ts';
import { throttleProgress } from './throttleProgress.ts';

/** Backpressure: with this many messages queued the socket is not read; the rest waits at the daemon. */
const QUEUED_MESSAGES_MAX = 32;
/** Concurrency limit over all links, as people's calls need database connections too. */
const limitSteps = limitConcurrency(3);
/** A daemon that has to come again comes after about this time. */
const LATER_MIN_MS = 1_000;
const LATER_SPREAD_MS = 4_000;

/** WebSocket close codes; those from 4000 on are our own. */
export const CLOSE_CODES = { badMessage: 1008, tryAgain: 1013, unknownKey: 4401, revoked: 4403, fenced: 4409 } as const;

type Message<T extends DaemonMessage['type']> = Extract<DaemonMessage, { type: T }>;

export interface LinkSocket {
  isOpen(): boolean;
  /** The link is a daemon's: it no longer counts among those that may be anybody's. */
  authenticated(): void;
  send(message: PlatformMessage): void;
  close(code: number, reason: string): void;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
}

/** Services that all links of this process share. */
export interface LinkServices {
  heartbeats: Heartbeats;
  usage: UsageRecorder;
  rateLimit: LinkRateLimit;
  waitUntilDurable: WaitUntilDurable;
}

export interface LinkHandler {
  /** `null` for an invalid message. */
  onMessage(message: DaemonMessage | null): void;
  onBytes(frame: Uint8Array): void;
  isAuthenticated(): boolean;
  /** Asks the daemon to disconnect and to reconnect later. */
  drain(reconnectAfterMs: number): void;
  /** After a disconnect; resolves when the pending work is done. */
  onClose(): Promise<void>;
}

/**
 * Handles one daemon link, from the handshake (challenge, auth, welcome) to the disconnect. Control messages are handled
 * in sequence, so that a hello is recorded before the inventory that follows it; bytes of streams as they arrive.
 */
export function handleLink(
  ctx: Context,
  remoteAddress: string,
  { heartbeats, usage, rateLimit, waitUntilDurable }: LinkServices,
  socket: LinkSocket,
): LinkHandler {
  let nonce = newNonce();
  /** The last challenge was not answered yet. */
  let isChallengeOpen = true;
  let lease: NodeJS.Timeout | undefined;
  let session: { node: NodeConnection; logs: LogReceiver } | null = null;
  let hasSaidHello = false;
  let queue: Promise<void> = Promise.resolve();
  let queued = 0;
  /** The inventory at the end of the queue, if any. */
  let queuedInventory: { inventory: Inventory } | null = null;
  let sentDigest: string | null = null;
  const sentCommands = new Set<string>();
  let endStreams = (): void => {};

  const logFields = (): Partial<NodeConnection> => session?.node ?? {};
  const violation = (what: string): void => {
    ctx.log.warn({ ...logFields(), what }, 'daemon link closed: bad message');
    socket.close(CLOSE_CODES.badMessage, what);
  };
  const outOfStep = (what: string): void => {
    ctx.log.warn({ ...logFields(), what }, 'daemon link closed: out of step');
    socket.close(CLOSE_CODES.tryAgain, what);
  };
  const unavailable = (error: unknown): void => {
    ctx.log.error({ ...logFields(), err: error }, 'daemon link closed: it cannot be served now');
    socket.close(CLOSE_CODES.tryAgain, 'try again');
  };
  const revoked = async (instanceId: number, reason: string): Promise<void> => {
    socket.send({ type: 'revoked', reason, document: await signRevocation(ctx, String(instanceId)) });
    socket.close(CLOSE_CODES.revoked, 'revoked');
  };

  /** Closes a link that was fenced or revoked, and sends the daemon what it does not have yet. */
  const updates = coalesce(async () => {
    if (!session) return;
    const { node } = session;
    const { end, desired, commands } = await readUpdates(ctx, node, hasSaidHello ? sentDigest : undefined);
    if (end === 'fenced') return socket.close(CLOSE_CODES.fenced, 'a newer connection has taken over');
    if (end) return revoked(node.instanceId, end.revoked);
    if (desired) {
      sentDigest = desired.digest;
      socket.send({ type: 'desired', document: desired.document });
    }
    for (const { id, document } of commands) {
      if (sentCommands.has(id)) continue;
      sentCommands.add(id);
      socket.send({ type: 'command', document });
    }
  }, unavailable);
  const unsubscribe = ctx.bus.subscribe('node', ({ instanceId }) => {
    if (instanceId === session?.node.instanceId) updates.request();
  });

  /** A queued inventory that was not recorded yet is replaced by a newer one that directly follows it. */
  function queueInventory(node: NodeConnection, inventory: Inventory): void {
    if (queuedInventory) {
      queuedInventory.inventory = inventory;
      return;
    }
    const mine = { inventory };
    enqueue(async () => {
      if (queuedInventory === mine) queuedInventory = null;
      await observeInventory(ctx, node, mine.inventory);
      updates.request();
    });
    queuedInventory = mine;
  }

  function enqueue(step: () => Promise<unknown>, limit = limitSteps): void {
    queuedInventory = null;
    queued += 1;
    if (queued === QUEUED_MESSAGES_MAX) socket.pause();
    queue = queue
      .then(() => limit(async () => (socket.isOpen() ? step() : undefined)))
      .then(undefined, unavailable)
      .then(() => {
        queued -= 1;
        if (queued === QUEUED_MESSAGES_MAX / 2) socket.resume();
      });
  }

  /** Records an observation; when it was refused, the link was fenced or revoked. */
  function enqueueObservation(observe: () => Promise<boolean>): void {
    enqueue(async () => {
      if (!(await observe())) updates.request();
    });
  }

  async function authenticate(message: Message<'auth'>): Promise<void> {
    const found = await connectNode(ctx, message, { nonce, remoteAddress, admit: rateLimit.admit });
    if (found === 'later') return drain(LATER_MIN_MS + Math.random() * LATER_SPREAD_MS);
    if (!found) {
      logRefusal(ctx.log, { at: 'daemon link', ip: remoteAddress, reason: 'this key is not known' });
      return socket.close(CLOSE_CODES.unknownKey, 'this key is not known');
    }
    if ('revoked' in found) return revoked(found.instanceId, found.revoked);
    const { instanceId, epoch, rotateKey } = found;
    socket.authenticated();
    const node = { instanceId, epoch };
    session = {
      node,
      logs: receiveLogs(ctx, node, waitUntilDurable, { send: socket.send, violation, outOfStep, unavailable }),
    };
    const serverTime = new Date().toISOString();
    const { sampleSeconds } = ctx.config;
    const features = [PULL_AUTH_FEATURE];
    const welcome = { epoch, serverTime, heartbeatSeconds: HEARTBEAT_S, sampleSeconds, rotateKey, features };
    socket.send({ type: 'welcome', ...welcome });
    startLease();
  }

  function drain(reconnectAfterMs: number): void {
    socket.send({ type: 'drain', reconnectAfterMs: Math.round(reconnectAfterMs) });
  }

  /** Handshakes have a timeout, so they do not queue behind the messages of other links. */
  async function limitHandshakes<T>(work: () => Promise<T>): Promise<T> {
    const release = await ctx.slots.linkHandshakes.take(asStranger(remoteAddress));
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Starts the lease of an authenticated link: the daemon is challenged again before it expires, and closed after. */
  function startLease(): void {
    clearTimeout(lease);
    const leaseMs = ctx.config.linkLeaseSeconds * 1000;
    lease = setTimeout(
      () => {
        nonce = newNonce();
        isChallengeOpen = true;
        socket.send({ type: 'challenge', nonce });
        lease = setTimeout(() => socket.close(CLOSE_CODES.unknownKey, 'the proof has run out'), leaseMs / 3);
      },
      (leaseMs * 2) / 3,
    );
  }

  async function renewLease(node: NodeConnection, message: Message<'auth'>): Promise<void> {
    if (await verifyRenewal(ctx.db, node, message, nonce)) startLease();
    else socket.close(CLOSE_CODES.unknownKey, 'this key is not known any more');
  }

  async function replaceKey(node: NodeConnection, message: Message<'rotate'>): Promise<void> {
    const x = await inTransaction(ctx.db, (trx) => rotateKey(trx, node, message, nonce));
    if (x) socket.send({ type: 'rotated', x });
    else violation('a key was offered without proof');
  }

  async function answerPullAuth(node: NodeConnection, { containerId, gen }: Message<'pull-auth'>): Promise<void> {
    const auth = await pullAuthOf(ctx, node.instanceId, { containerId, gen });
    socket.send({ type: 'pull-auth', epoch: node.epoch, containerId, gen, auth });
  }

  const progress = throttleProgress((message) => {
    const node = session?.node;
    if (node) enqueueObservation(() => observeProgress(ctx, node, message));
  });

  function handleMessage({ node, logs }: NonNullable<typeof session>, message: DaemonMessage): void {
    switch (message.type) {
      case 'auth':
        if (isChallengeOpen) enqueue(() => renewLease(node, message));
        else violation('auth twice');
        isChallengeOpen = false;
        break;
      case 'rotate':
        enqueue(() => replaceKey(node, message));
        break;
      case 'hello':
        enqueue(async () => {
          hasSaidHello = await observeHello(ctx, node, message);
          if (hasSaidHello) {
            endStreams = ctx.streams.register({ ...node, features: message.features ?? [], send: socket.send });
            await daemonConnected(ctx, node.instanceId);
          }
          updates.request();
        });
        break;
      case 'heartbeat':
        heartbeats.record(node);
        break;
      case 'usage':
        usage.record(node, message.sample);
        break;
      case 'inventory':
        queueInventory(node, message.inventory);
        break;
      case 'pull-auth':
        enqueue(() => answerPullAuth(node, message));
        break;
      case 'progress':
        progress.push(message);
        break;
      case 'failed':
        progress.drop(message.containerId);
        enqueueObservation(() => observeFailure(ctx, node, message));
        break;
      case 'result':
        enqueueObservation(() => observeResult(ctx, node, message));
        break;
      case 'log-open':
        logs.open(message);
        break;
      case 'log-gap':
        logs.gap(message);
        break;
      case 'log-end':
        logs.end(message);
        break;
      default:
        message satisfies never;
    }
  }

  socket.send({ type: 'challenge', nonce });

  return {
    isAuthenticated: () => session !== null,
    onMessage(message) {
      if (!message) {
        violation('not a message of the protocol');
      } else if (session) {
        handleMessage(session, message);
      } else if (message.type === 'auth' && isChallengeOpen) {
        isChallengeOpen = false;
        enqueue(() => authenticate(message), limitHandshakes);
      } else {
        violation(`${message.type} before the welcome`);
      }
    },
    onBytes(frame) {
      if (session) session.logs.bytes(frame);
      else violation('bytes before the welcome');
    },
    drain,
    async onClose() {
      clearTimeout(lease);
      endStreams();
      unsubscribe();
      progress.stop();
      await queue;
      // A hello that was being recorded has registered them meanwhile.
      endStreams();
      await Promise.all([updates.idle(), session?.logs.close()]);
      if (!session) return;
      const { node } = session;
      try {
        if (await disconnectNode(ctx.db, node)) await daemonDisconnected(ctx, node.instanceId);
      } catch (error) {
        // Without heartbeats the server becomes unresponsive anyway.
        ctx.log.warn({ ...node, err: error }, 'the end of a link was not recorded');
      }
    },
  };
}

function newNonce(): string {
  return randomBytes(32).toString('base64url');
}

import { randomBytes } from 'node:crypto';
import type { DaemonMessage, Inventory, PlatformMessage } from '@stagi/contract/daemon.ts';
import { HEARTBEAT_S } from '@stagi/contract/instances.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { daemonGone, daemonHello } from '../instances/readiness.ts';
import type { LogKeeper } from '../logging/kept.ts';
import { type LogReceiver, receiveLogs } from '../logging/receive.ts';
import { takeTurns } from '../turns.ts';
import type { Heartbeats } from './heartbeats.ts';
import { revocation, rotateKey } from './keys.ts';
import { latest } from './latest.ts';
import { readNews } from './news.ts';
import { type Connected, connectNode, disconnectNode, provesAgain } from './node.ts';
import { observeFailure, observeHello, observeInventory, observeProgress, observeResult } from './observe.ts';
import { throttleProgress } from './throttle.ts';

/** While so many messages wait nothing more is read: the daemon's own queue holds the rest. */
const WAITING_MAX = 32;
/** However many daemons speak at once, so many are listened to: people's calls need connections too. */
const inTurn = takeTurns(3);
/** Who has just come has little time to be known: it does not queue behind what the others tell. */
const inTurnToEnter = takeTurns(2);

/** WebSocket close codes; those from 4000 are ours. */
export const CLOSE = { badMessage: 1008, tryAgain: 1013, notKnown: 4401, revoked: 4403, fenced: 4409 } as const;

type Message<T extends DaemonMessage['type']> = Extract<DaemonMessage, { type: T }>;

export interface Wire {
  isOpen(): boolean;
  send(message: PlatformMessage): void;
  end(code: number, reason: string): void;
  /** Reads nothing more until `resume`. */
  pause(): void;
  resume(): void;
}

/** What all links of this process have in common. */
export interface Shared {
  heartbeats: Heartbeats;
  keepLog: LogKeeper;
}

export interface Conversation {
  /** `null`: what came is no message of the protocol. */
  take(message: DaemonMessage | null): void;
  bytes(frame: Uint8Array): void;
  isAuthenticated(): boolean;
  /** Asks the daemon to leave and to come back later. */
  drain(reconnectAfterMs: number): void;
  /** The wire is gone; resolves when everything that was begun is done. */
  finish(): Promise<void>;
}

/**
 * What is said over one link, from the challenge on. Control messages are handled one after another (a hello is
 * recorded before the inventory that follows it), bytes of streams as they come.
 */
export function converse(
  ctx: Context,
  remoteAddress: string,
  { heartbeats, keepLog }: Shared,
  wire: Wire,
): Conversation {
  let nonce = newNonce();
  /** The last challenge has not been answered. */
  let isAsked = true;
  let lease: NodeJS.Timeout | undefined;
  let session: { node: Connected; logs: LogReceiver } | null = null;
  let isGreeted = false;
  let work: Promise<void> = Promise.resolve();
  let waiting = 0;
  /** The last step that waits, when it is an inventory. */
  let newest: { inventory: Inventory } | null = null;
  let sentDigest: string | null = null;
  const sentCommands = new Set<string>();

  const who = (): Partial<Connected> => session?.node ?? {};
  const violation = (what: string): void => {
    ctx.log.warn({ ...who(), what }, 'daemon link closed: bad message');
    wire.end(CLOSE.badMessage, what);
  };
  const outOfStep = (what: string): void => {
    ctx.log.warn({ ...who(), what }, 'daemon link closed: out of step');
    wire.end(CLOSE.tryAgain, what);
  };
  const broken = (error: unknown): void => {
    ctx.log.error({ ...who(), err: error }, 'daemon link closed: it cannot be served now');
    wire.end(CLOSE.tryAgain, 'try again');
  };
  const revoked = async (instanceId: number, reason: string): Promise<void> => {
    wire.send({ type: 'revoked', reason, document: await revocation(ctx, String(instanceId)) });
    wire.end(CLOSE.revoked, 'revoked');
  };

  /** Looks whether this is still the newest connection of a key that holds, and tells the daemon what is new. */
  const news = latest(async () => {
    if (!session) return;
    const { node } = session;
    const { over, desired, commands } = await readNews(ctx, node, isGreeted ? sentDigest : undefined);
    if (over === 'fenced') return wire.end(CLOSE.fenced, 'a newer connection has taken over');
    if (over) return revoked(node.instanceId, over.revoked);
    if (desired) {
      sentDigest = desired.digest;
      wire.send({ type: 'desired', document: desired.document });
    }
    for (const { id, document } of commands) {
      if (sentCommands.has(id)) continue;
      sentCommands.add(id);
      wire.send({ type: 'command', document });
    }
  }, broken);
  const unsubscribe = ctx.bus.subscribe('node', ({ instanceId }) => {
    if (instanceId === session?.node.instanceId) news.ask();
  });

  /** One that has not been recorded when the next one comes, with nothing said in between, is out of date. */
  function takeInventory(node: Connected, inventory: Inventory): void {
    if (newest) {
      newest.inventory = inventory;
      return;
    }
    const mine = { inventory };
    inOrder(async () => {
      if (newest === mine) newest = null;
      await observeInventory(ctx, node, mine.inventory);
      news.ask();
    });
    newest = mine;
  }

  function inOrder(step: () => Promise<unknown>, turn = inTurn): void {
    newest = null;
    waiting += 1;
    if (waiting === WAITING_MAX) wire.pause();
    work = work
      .then(() => turn(async () => (wire.isOpen() ? step() : undefined)))
      .then(undefined, broken)
      .then(() => {
        waiting -= 1;
        if (waiting === WAITING_MAX / 2) wire.resume();
      });
  }

  /** Records in order what was observed; a connection that was overtaken finds out here. */
  function record(observe: () => Promise<boolean>): void {
    inOrder(async () => {
      if (!(await observe())) news.ask();
    });
  }

  async function authenticate(message: Message<'auth'>): Promise<void> {
    const found = await connectNode(ctx, message, nonce, remoteAddress);
    if (!found) return wire.end(CLOSE.notKnown, 'this key is not known');
    if ('revoked' in found) return revoked(found.instanceId, found.revoked);
    const { instanceId, epoch, rotateKey } = found;
    const node = { instanceId, epoch };
    session = { node, logs: receiveLogs(ctx, node, keepLog, { send: wire.send, violation, outOfStep, broken }) };
    const serverTime = new Date().toISOString();
    wire.send({ type: 'welcome', epoch, serverTime, heartbeatSeconds: HEARTBEAT_S, rotateKey });
    beginLease();
  }

  /** The daemon has proven itself now. It is asked again in time, and out when it has not answered by the end. */
  function beginLease(): void {
    clearTimeout(lease);
    const leaseMs = ctx.config.linkLeaseSeconds * 1000;
    lease = setTimeout(
      () => {
        nonce = newNonce();
        isAsked = true;
        wire.send({ type: 'challenge', nonce });
        lease = setTimeout(() => wire.end(CLOSE.notKnown, 'the proof has run out'), leaseMs / 3);
      },
      (leaseMs * 2) / 3,
    );
  }

  async function renew(node: Connected, message: Message<'auth'>): Promise<void> {
    if (await provesAgain(ctx.db, node, message, nonce)) beginLease();
    else wire.end(CLOSE.notKnown, 'this key is not known any more');
  }

  async function replaceKey(node: Connected, message: Message<'rotate'>): Promise<void> {
    const x = await inTransaction(ctx.db, (trx) => rotateKey(trx, node, message, nonce));
    if (x) wire.send({ type: 'rotated', x });
    else violation('a key was offered without proof');
  }

  const progress = throttleProgress((message) => {
    const node = session?.node;
    if (node) record(() => observeProgress(ctx, node, message));
  });

  function takeFrom({ node, logs }: NonNullable<typeof session>, message: DaemonMessage): void {
    switch (message.type) {
      case 'auth':
        if (isAsked) inOrder(() => renew(node, message));
        else violation('auth twice');
        isAsked = false;
        break;
      case 'rotate':
        inOrder(() => replaceKey(node, message));
        break;
      case 'hello':
        inOrder(async () => {
          isGreeted = await observeHello(ctx, node, message);
          if (isGreeted) await daemonHello(ctx, node.instanceId);
          news.ask();
        });
        break;
      case 'heartbeat':
        heartbeats.beat(node);
        break;
      case 'inventory':
        takeInventory(node, message.inventory);
        break;
      case 'progress':
        progress.push(message);
        break;
      case 'failed':
        record(() => observeFailure(ctx, node, message));
        break;
      case 'result':
        record(() => observeResult(ctx, node, message));
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

  wire.send({ type: 'challenge', nonce });

  return {
    isAuthenticated: () => session !== null,
    take(message) {
      if (!message) {
        violation('not a message of the protocol');
      } else if (session) {
        takeFrom(session, message);
      } else if (message.type === 'auth' && isAsked) {
        isAsked = false;
        inOrder(() => authenticate(message), inTurnToEnter);
      } else {
        violation(`${message.type} before the welcome`);
      }
    },
    bytes(frame) {
      if (session) session.logs.bytes(frame);
      else violation('bytes before the welcome');
    },
    drain(reconnectAfterMs) {
      wire.send({ type: 'drain', reconnectAfterMs });
    },
    async finish() {
      clearTimeout(lease);
      unsubscribe();
      progress.stop();
      await work;
      await Promise.all([news.idle(), session?.logs.close()]);
      if (!session) return;
      const { node } = session;
      try {
        if (await disconnectNode(ctx.db, node)) await daemonGone(ctx, node.instanceId);
      } catch (error) {
        // Without beats the server counts as unresponsive all the same.
        ctx.log.warn({ ...node, err: error }, 'the end of a link was not recorded');
      }
    },
  };
}

function newNonce(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Slow and greedy clients in a process of their own, so that the time of processors that they take is the same whichever
 * platform they attack. Started with `fork` and controlled by messages.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { waysOfAccount } from './neighboursAccount.ts';
import type { Held } from './neighboursClients.ts';
import { waysOfStranger } from './neighboursStranger.ts';
import type { Account, GreedyWay, SlowWay, Target } from './neighboursWays.ts';
import { type Random, seeded } from './random.ts';

export interface Attack {
  target: Target;
  /** Null: nobody has an account. */
  account: Account | null;
  unknownSshKey: string;
  slow: number;
  greedy: number;
  /** A greedy client asks for the same again after so long at the earliest: loopback has no network that slows it. */
  paceMs: number;
  /** The attack ends by itself after it. */
  mostMs: number;
  seed: number;
  /** Only ways whose name has one of these words in it, as `slow links`; none: all. */
  only: readonly string[];
}

export interface Attacked {
  tally: Tally;
  /** The part of one processor that the clients used. */
  share: number;
}

/** Counts of outcomes, by what was tried. */
export type Tally = Record<string, Record<string, number>>;

export const isChosen = ({ only }: Pick<Attack, 'only'>, name: string): boolean =>
  only.length === 0 || only.some((word) => name.includes(word));

export function count(tally: Tally, name: string, outcome: string, times: number): void {
  const outcomes = tally[name] ?? {};
  outcomes[outcome] = (outcomes[outcome] ?? 0) + times;
  tally[name] = outcomes;
}

type Order = { kind: 'attack'; attack: Attack } | { kind: 'stop' };
type News = { kind: 'stands' } | { kind: 'ended'; attacked: Attacked } | { kind: 'failed'; what: string };

const DRIP_MS = 4_000;
/** A slow client is slow to come back, too. */
const AGAIN_MS = 10_000;
/** They do not all come in the same moment. */
const COMING_MS = 2_000;

if (import.meta.main) {
  const stopping = new AbortController();
  process.on('message', (order: Order) => {
    if (order.kind === 'stop') stopping.abort();
    else
      attack(order.attack, stopping)
        .catch((error: Error) => tell({ kind: 'failed', what: error.stack ?? error.message }))
        .finally(() => process.disconnect?.());
  });
  // Much breaks off while all clients leave.
  process.on('uncaughtException', (error) => {
    if (!stopping.signal.aborted) console.error('attackers:', error);
  });
  process.on('disconnect', () => process.exit(0));
}

function tell(news: News): void {
  process.send?.(news);
}

async function attack(given: Attack, stopping: AbortController): Promise<void> {
  const { signal } = stopping;
  const random = seeded(given.seed);
  const tally: Tally = {};
  const note = (name: string, outcome: string): void => count(tally, name, outcome, 1);
  const { slow, greedy } = given.account
    ? await waysOfAccount(given.target, given.account, signal)
    : waysOfStranger(given.target, given.unknownSshKey, signal);
  for (const { name } of slow) tally[`slow ${name}`] = {};
  for (const { name } of greedy) tally[`greedy ${name}`] = {};
  const held = slow
    .filter(({ name }) => isChosen(given, `slow ${name}`))
    .flatMap((way) =>
      Array.from({ length: way.holds(given.slow) }, (_, number) =>
        keepHolding(way, { number, random, signal, note: (outcome) => note(`slow ${way.name}`, outcome) }),
      ),
    );
  await Promise.all(held.map(({ tried }) => tried));
  const loops = greedy
    .filter(({ name }) => isChosen(given, `greedy ${name}`))
    .flatMap((way) =>
      Array.from({ length: given.greedy }, (_, client) =>
        keepAsking(way, { ...given, client, random, signal, note: (outcome) => note(`greedy ${way.name}`, outcome) }),
      ),
    );
  tell({ kind: 'stands' });
  const limit = setTimeout(() => stopping.abort(), given.mostMs);
  const [began, used] = [performance.now(), process.cpuUsage()];
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  const { user, system } = process.cpuUsage(used);
  const share = (user + system) / 1_000 / (performance.now() - began);
  clearTimeout(limit);
  await Promise.all([...held.map(({ ended }) => ended), ...loops]);
  tell({ kind: 'ended', attacked: { tally, share } });
}

interface Client {
  random: Random;
  signal: AbortSignal;
  note(outcome: string): void;
}

/** Opens a connection, and again whenever it ends. `tried`: it stands, or was refused. */
function keepHolding(way: SlowWay, { number, random, signal, note }: Client & { number: number }) {
  const tried = Promise.withResolvers<void>();
  const run = async (): Promise<void> => {
    await pause(COMING_MS * random(), null, { signal }).catch(() => {});
    while (!signal.aborted) {
      const held = await way.open(number).catch((error: unknown) => reasonOf(error));
      note(typeof held === 'string' ? held : 'held');
      tried.resolve();
      if (typeof held !== 'string') {
        await stay(held);
        if (!signal.aborted) note('ended by the platform');
      }
      await pause(AGAIN_MS * (0.5 + random()), null, { signal }).catch(() => {});
    }
    tried.resolve();
  };
  const stay = async (held: Held): Promise<void> => {
    const drip = setInterval(held.drip, DRIP_MS);
    signal.addEventListener('abort', held.end, { once: true });
    if (signal.aborted) held.end();
    await held.closed.catch(() => {});
    clearInterval(drip);
    signal.removeEventListener('abort', held.end);
  };
  return { tried: tried.promise, ended: run() };
}

async function keepAsking(
  way: GreedyWay,
  { client, paceMs, mostMs, random, signal, note }: Client & { client: number; paceMs: number; mostMs: number },
): Promise<void> {
  // Not all in the same moment.
  await pause(paceMs * random(), null, { signal }).catch(() => {});
  const most = Math.ceil(mostMs / Math.max(1, paceMs));
  for (let n = 0; n < most && !signal.aborted; n += 1) {
    const begun = performance.now();
    const outcome = await way.ask(client + n).catch((error: unknown) => reasonOf(error));
    note(signal.aborted ? 'no answer yet' : outcome);
    await pause(Math.max(0, paceMs - (performance.now() - begun)), null, { signal }).catch(() => {});
  }
}

const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message.slice(0, 40);
};

/** Begins an attack in another process. Resolves when all slow clients stand and the greedy ones have begun. */
export async function startAttack(given: Attack): Promise<{ stop(): Promise<Attacked> }> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'neighboursAttack.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const stands = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Attacked>();
  ended.promise.catch(() => {});
  child.on('message', (news: News) => {
    if (news.kind === 'stands') stands.resolve();
    else if (news.kind === 'ended') ended.resolve(news.attacked);
    else fail(new Error(`the attackers failed: ${news.what}`));
  });
  const fail = (error: Error): void => {
    stands.reject(error);
    ended.reject(error);
  };
  void exited.then(() => fail(new Error('the attackers have gone')));
  const order = (message: Order): boolean => child.send(message);
  order({ kind: 'attack', attack: given });
  await stands.promise;
  return {
    async stop() {
      if (child.connected) order({ kind: 'stop' });
      const attacked = await ended.promise;
      await exited;
      return attacked;
    },
  };
}

import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { docker } from '@stagi/daemon/src/testing/image.ts';
import { FAULT_SCENARIOS, restoreNetwork } from './faultScenarios.ts';
import { watchDocker } from './oracle.ts';
import type { Random } from './random.ts';
import { createLinkTestbed, type LinkTestbed, until } from './testbed.ts';

/** Exits at once on SIGTERM. */
const QUIET = 'trap "exit 0" TERM; while :; do sleep 0.1; done';
/** About 500 lines a second. */
const CHATTER = 'trap "exit 0" TERM; n=0; while :; do seq $((n*100+1)) $((n*100+100)); n=$((n+1)); sleep 0.2; done';
const RIGHT_WITHIN_MS = 120_000;
const STORED_WITHIN_MS = 300_000;

export interface BadLinkResult {
  seconds: number;
  storms: Record<string, number>;
  links: number;
  /** Recorded frames that were replayed. */
  replays: number;
  actions: number;
  wishes: number;
  wrong: string[];
  /** Time to the desired state: after the reconnect, and for each fault scenario after its end. */
  rightAfterLinkMs: number[];
  rightAfterCalmMs: Record<string, number[]>;
  /** Cases that took longer than 3 s after the reconnect: the scenario, the time, and when links were made after it. */
  slow: string[];
  lines: number;
  missing: number;
  twice: number;
  gaps: number;
  rssMax: number;
}

interface Subject {
  id: number;
  slug: string;
  wanted: 'running' | 'stopped' | 'absent';
  /** For a requested restart: the last start must differ from this one. */
  notStartedAt: string | null;
}

/**
 * Runs fault scenarios one after another for this many seconds, with requests in each: start, stop, restart, delete,
 * create. After each the desired state must be reached soon, Docker must have done nothing that was not requested, and
 * no line may be missing.
 */
export async function runBadLink(random: Random, seconds: number): Promise<BadLinkResult> {
  const world = await createLinkTestbed(random);
  const oracle = await watchDocker(world.daemon.labels);
  const storms: Record<string, number> = {};
  const rightAfterLinkMs: number[] = [];
  const rightAfterCalmMs: Record<string, number[]> = {};
  const slow: string[] = [];
  let rssMax = 0;
  let made = 0;
  const memory = setInterval(async () => {
    // Between two processes of the daemon there is no memory to measure.
    rssMax = Math.max(rssMax, await world.daemon.rssBytes().catch(() => 0));
  }, 500);
  try {
    const chatter = await make(CHATTER);
    const subjects = [await make(QUIET), await make(QUIET)];
    await until('everything has begun', () => isRight([chatter, ...subjects]), RIGHT_WITHIN_MS);
    const begun = performance.now();
    const names = shuffled(Object.keys(FAULT_SCENARIOS), random);
    for (let turn = 0; performance.now() - begun < seconds * 1000; turn += 1) {
      // First every scenario once, then at random.
      const name = turn < names.length ? names[turn]! : random.pick(names);
      const short = seconds < 120;
      const longest = short ? 4000 : random.next() < 0.1 ? 50_000 : 15_000;
      const storm = FAULT_SCENARIOS[name]!(world.proxy, random, random.between(1500, longest));
      storms[name] = (storms[name] ?? 0) + 1;
      await wishSomething(subjects);
      await storm;
      restoreNetwork(world.proxy);
      await settle(name, Date.now());
      if (!short) await pause(random.between(0, 3000));
    }

    return {
      seconds: (performance.now() - begun) / 1000,
      storms,
      links: world.daemon.loggedAt('is up').length,
      replays: world.proxy.replays(),
      ...(await compareLog(world, chatter, () => oracle.wished(chatter.id, 'stop'))),
      ...(await oracle.judge()),
      rightAfterLinkMs,
      rightAfterCalmMs,
      slow,
      rssMax,
    };

    async function wishSomething(all: Subject[]): Promise<void> {
      for (let wishes = Math.floor(random.between(1, 4)); wishes > 0; wishes -= 1) {
        const index = Math.floor(random.next() * all.length);
        if (all[index]!.wanted === 'absent') all[index] = await make(QUIET);
        else await wish(all[index]!);
        await pause(random.between(0, 1500));
      }
    }
    async function settle(storm: string, calmAt: number): Promise<void> {
      await until('everything is as wished', () => isRight([chatter, ...subjects]), RIGHT_WITHIN_MS);
      const now = Date.now();
      for (const { id, wanted } of [chatter, ...subjects]) if (wanted !== 'absent') oracle.settled(id);
      const ups = world.daemon.loggedAt('is up').filter((at) => at >= calmAt);
      const up = ups[0] ?? calmAt;
      rightAfterCalmMs[storm] ??= [];
      rightAfterCalmMs[storm].push(now - calmAt);
      const afterLink = Math.max(0, now - up);
      rightAfterLinkMs.push(afterLink);
      if (afterLink > 3000)
        slow.push(`${storm}: ${afterLink} ms; links ${ups.map((at) => at - calmAt).join(', ')} ms after it`);
    }
  } finally {
    clearInterval(memory);
    await world.cleanUp();
  }

  async function make(script: string): Promise<Subject> {
    made += 1;
    const slug = `storm-${process.pid}-${made}`;
    const at = Date.now();
    const { id } = await world.create(slug, script);
    oracle.wished(id, 'run', at);
    return { id, slug, wanted: 'running', notStartedAt: null };
  }

  /** Makes one of the requests that are possible now. */
  async function wish(subject: Subject): Promise<void> {
    const container = await world.view(subject.id);
    const ref = { id: subject.id };
    const options: (() => Promise<void>)[] = [];
    if (container.instance.status === 'online' && container.status === 'running') {
      options.push(async () => {
        oracle.wished(subject.id, 'stop');
        await world.person.client(api.containers.stop, ref);
        Object.assign(subject, { wanted: 'stopped', notStartedAt: null });
      });
      options.push(async () => {
        const { State } = await docker.getContainer(`stagi-${subject.slug}`).inspect();
        oracle.wished(subject.id, 'restart');
        await world.person.client(api.containers.restart, ref);
        Object.assign(subject, { wanted: 'running', notStartedAt: State.StartedAt });
      });
    }
    if (container.instance.status === 'online' && ['stopped', 'exited'].includes(container.status)) {
      options.push(async () => {
        oracle.wished(subject.id, 'run');
        await world.person.client(api.containers.start, ref);
        Object.assign(subject, { wanted: 'running', notStartedAt: null });
      });
    }
    if (random.next() < 0.2) {
      options.push(async () => {
        oracle.wished(subject.id, 'remove');
        await world.person.client(api.containers.delete, ref);
        subject.wanted = 'absent';
      });
    }
    if (options.length > 0) await random.pick(options)();
  }

  async function isRight(subjects: readonly Subject[]): Promise<boolean> {
    for (const { id, slug, wanted, notStartedAt } of subjects) {
      const state = await docker
        .getContainer(`stagi-${slug}`)
        .inspect()
        .then(
          ({ State }) => State,
          () => null,
        );
      if (wanted === 'absent') {
        if (state) return false;
        continue;
      }
      const { status } = await world.view(id);
      if (!state || state.Running !== (wanted === 'running')) return false;
      if (notStartedAt !== null && state.StartedAt === notStartedAt) return false;
      if (wanted === 'running' ? status !== 'running' : !['stopped', 'exited'].includes(status)) return false;
    }
    return true;
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, rank: random.next() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** Stops the printing container and counts its stored lines. */
async function compareLog(world: LinkTestbed, chatter: Subject, wish: () => void) {
  wish();
  await world.person.client(api.containers.stop, { id: chatter.id });
  const container = docker.getContainer(`stagi-${chatter.slug}`);
  await until('it has stopped', async () => !(await container.inspect()).State.Running);
  // Docker counts the lines of both streams, and the shell tells on the other one which of its programs was ended.
  const tail = await container.logs({ stdout: true, tail: 10 });
  const numbers = tail.toString('latin1').match(/\d+(?=\n)/g);
  const last = Number(numbers?.at(-1));
  await until('its last line is stored', async () => (await lastLine(world, chatter.id)) === last, STORED_WITHIN_MS);
  const seen = new Uint8Array(last + 1);
  let twice = 0;
  const pages = world.readLog(chatter.id);
  let page = await pages.next();
  for (; !page.done; page = await pages.next()) {
    for (const { text } of page.value) {
      if (seen[Number(text)]) twice += 1;
      seen[Number(text)] = 1;
    }
  }
  let missing = 0;
  for (let number = 1; number <= last; number += 1) if (!seen[number]) missing += 1;
  return { lines: last, missing, twice, gaps: page.value.length };
}

async function lastLine(world: LinkTestbed, id: number): Promise<number> {
  const { lines } = await world.person.client(api.logging.query, {
    source: { type: 'docker-container', id },
    limit: 10,
  });
  return Number(lines.findLast(({ stream }) => stream === 'stdout')?.text);
}

export function formatBadLink(name: string, seed: number, result: BadLinkResult): string {
  const kinds = Object.entries(result.storms)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ');
  const total = Object.values(result.storms).reduce((sum, count) => sum + count, 0);
  return [
    `${name}: seed ${seed}, ${Math.round(result.seconds)} s, n = ${total} storms (${kinds}), ${result.links} links, ${result.replays} frames replayed`,
    `${result.wrong.length} wrong of ${result.actions} actions on ${result.wishes} wishes${result.wrong.map((one) => `\n  wrong: ${one}`).join('')}`,
    `right after the link stood: ${spread(result.rightAfterLinkMs)}`,
    ...Object.entries(result.rightAfterCalmMs).map(
      ([kind, ms]) => `  after the network was fair, ${kind}: ${spread(ms)}`,
    ),
    ...result.slow.map((one) => `  slow: ${one}`),
    `${result.lines} lines, ${result.missing} missing, ${result.twice} twice, ${result.gaps} gaps; daemon RSS at most ${Math.round(result.rssMax / 1e6)} MB`,
  ].join('\n');
}

function spread(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => ((sorted[Math.ceil(sorted.length * share) - 1] ?? 0) / 1000).toFixed(1);
  return `p50 ${at(0.5)} s, p95 ${at(0.95)} s, max ${at(1)} s (n = ${sorted.length})`;
}

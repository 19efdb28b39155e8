import type { LogGap } from '@stagi/contract/logging.ts';
import type { Random } from './random.ts';
import { createLinkTestbed, type LinkTestbed, until } from './testbed.ts';

const CATCH_UP_MS = 600_000;

export interface LinesResult {
  lines: number;
  stored: number;
  missing: number;
  twice: number;
  outOfOrder: number;
  gaps: LogGap[];
  daemonKills: number;
  platformKills: number;
  printedInMs: number;
  storedInMs: number;
}

/**
 * A container prints numbered lines as fast as it can while daemon and platform are killed at random moments. The
 * stored lines are compared with the printed ones at the end.
 */
export async function runLines(
  random: Random,
  plan: { lines: number; daemonKills: number; platformKills: number },
): Promise<LinesResult> {
  const world = await createLinkTestbed(random);
  try {
    const { id } = await world.create(`lines-${process.pid}`, `seq 1 ${plan.lines}`, 2);
    const begun = performance.now();
    let printedInMs = 0;
    const printed = until(
      'the container has ended',
      async () => (await world.view(id)).status === 'exited',
      CATCH_UP_MS,
    );
    void printed.then(() => {
      printedInMs = performance.now() - begun;
    });
    const done = await harass(world, id, random, plan);
    await printed;
    await until('all is stored', async () => (await world.lastSeq(id)) >= plan.lines, CATCH_UP_MS);
    const storedInMs = performance.now() - begun;
    return { ...(await compare(world, id, plan.lines)), ...done, printedInMs, storedInMs };
  } finally {
    await world.cleanUp();
  }
}

/** Kills both in random order, spread over the time that the lines take to arrive. */
async function harass(
  world: LinkTestbed,
  id: number,
  random: Random,
  plan: { lines: number; daemonKills: number; platformKills: number },
): Promise<{ daemonKills: number; platformKills: number }> {
  const total = plan.daemonKills + plan.platformKills;
  let platformKills = 0;
  let daemonKills = 0;
  for (let kill = 0; kill < total; kill += 1) {
    const share = (kill + 0.2 + 0.6 * random.next()) / (total + 1);
    await until(
      `${Math.round(share * 100)} % of the lines`,
      async () => (await world.lastSeq(id)) >= plan.lines * share,
      CATCH_UP_MS,
    );
    const left = { platform: plan.platformKills - platformKills, daemon: plan.daemonKills - daemonKills };
    if (random.next() < left.platform / (left.platform + left.daemon)) {
      platformKills += 1;
      await world.platform.end('SIGKILL');
      await world.platform.start();
    } else {
      daemonKills += 1;
      await world.daemon.end('SIGKILL');
      world.daemon.start();
    }
  }
  return { daemonKills, platformKills };
}

async function compare(world: LinkTestbed, id: number, lines: number) {
  const seen = new Uint8Array(lines + 1);
  let stored = 0;
  let twice = 0;
  let outOfOrder = 0;
  let before = 0;
  const pages = world.readLog(id);
  let page = await pages.next();
  for (; !page.done; page = await pages.next()) {
    for (const { text } of page.value) {
      const number = Number(text);
      stored += 1;
      if (number < before) outOfOrder += 1;
      if (seen[number]) twice += 1;
      seen[number] = 1;
      before = number;
    }
  }
  let missing = 0;
  for (let number = 1; number <= lines; number += 1) if (!seen[number]) missing += 1;
  return { lines, stored, missing, twice, outOfOrder, gaps: page.value };
}

export function formatLines(name: string, seed: number, result: LinesResult): string {
  const { lines, stored, missing, twice, outOfOrder, gaps, daemonKills, platformKills } = result;
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  return `${name}: seed ${seed}, n = ${lines} lines printed in ${seconds(result.printedInMs)} s, daemon killed ${daemonKills} times, platform ${platformKills}: ${stored} stored in ${seconds(result.storedInMs)} s, ${missing} missing, ${twice} twice, ${outOfOrder} out of order, ${gaps.length} gaps`;
}

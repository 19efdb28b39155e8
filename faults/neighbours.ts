import { readFileSync } from 'node:fs';
import { aMachine } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import type { Platform } from '@stagi/server/src/testing/platform.ts';
import { type Attacked, startAttack } from './neighboursAttack.ts';
import { cpuSecondsOf, endOrphans, isQuiet } from './neighboursProcesses.ts';
import { type Site, startSite } from './neighboursStage.ts';
import { aVictim, type Sample } from './neighboursVictim.ts';
import { until } from './until.ts';

export interface NeighboursPlan {
  slow: number;
  greedy: number;
  /** The least time between two requests of a greedy client for the same. */
  paceMs: number;
  /** The victim works for so long under each attack. */
  seconds: number;
  /** Each attack is made so often, and its control. */
  rounds: number;
  seed: number;
  /** To find what a failure comes from: see `Attack`. */
  only: readonly string[];
}

export const ATTACKERS = ['one account', 'one address without an account'] as const;

/** One attack: the victim's samples while the platform next door is attacked, and while its own is. */
export interface Comparison {
  by: (typeof ATTACKERS)[number];
  control: Sample[];
  attack: Sample[];
  /** Processes of platforms that ended meanwhile. */
  deaths: string[];
  attacked: Record<'control' | 'attack', (Attacked & { ofPlatform: number })[]>;
}

const ATTACK_ENDS_MS = 60_000;
const QUIET_WITHIN_MS = 15_000;

/**
 * Slow and greedy clients attack each listener of a platform, first with one account, then without any, while somebody
 * else works on that platform; in the control the same clients attack a second platform on this machine.
 */
export async function runNeighbours(plan: NeighboursPlan, say: (line: string) => void): Promise<Comparison[]> {
  const attackers = aMachine();
  const undo: (() => unknown)[] = [() => attackers.remove()];
  try {
    const unknownSshKey = await aKeyOfNobody(attackers);
    await attackers.sshKey();
    const home = await startSite(attackers);
    undo.push(home.remove);
    const nextDoor = await startSite(attackers);
    undo.push(nextDoor.remove);
    const victim = await aVictim(home);
    undo.push(victim.close);
    await victim.warmUp();
    say('neighbours: two platforms run, and somebody works on one of them');

    const found: Comparison[] = ATTACKERS.map((by) => ({
      ...{ by, control: [], attack: [], deaths: [] },
      attacked: { control: [], attack: [] },
    }));
    for (let round = 0; round < plan.rounds; round += 1)
      for (const comparison of found)
        for (const phase of ['control', 'attack'] as const) {
          const site = phase === 'control' ? nextDoor : home;
          await victim.ready();
          const attack = await startAttack({
            target: site.platform,
            account: comparison.by === 'one account' ? site.account : null,
            ...{ unknownSshKey, ...plan },
            mostMs: plan.seconds * 1_000 + ATTACK_ENDS_MS,
          });
          const measured = performance.now();
          const used = cpuSecondsOf(site.platform.pid);
          const samples = await victim.work(plan.seconds * 1_000).finally(async () => {
            const ofPlatform = ((cpuSecondsOf(site.platform.pid) - used) * 1_000) / (performance.now() - measured);
            comparison.attacked[phase].push({ ...(await attack.stop()), ofPlatform });
          });
          comparison[phase].push(...samples);
          if (site.platform.ended() !== null) comparison.deaths.push(`${phase}: ${lastLine(site.platform)}`);
          if (!(await becomesQuiet(site))) {
            say('neighbours: the platform that was attacked is started again, as it did not become quiet');
            await site.platform.stop('SIGKILL');
            endOrphans(site.platform);
            await site.platform.start();
            await victim.warmUp();
          }
          const errors = samples.filter(({ error }) => error !== null).length;
          say(`neighbours: ${comparison.by}, ${phase}: n = ${samples.length} things done, ${errors} refused or late`);
        }
    return found;
  } finally {
    for (const step of undo.toReversed()) await step();
  }
}

/** A platform that still works for those who have left may disturb what is measured next. */
async function becomesQuiet(site: Site): Promise<boolean> {
  const quiet = async () => site.platform.ended() !== null || (await isQuiet(site));
  await until('the platform is quiet', quiet, QUIET_WITHIN_MS, 200).catch(() => {});
  return site.platform.ended() === null && (await isQuiet(site));
}

const lastLine = (platform: Platform): string =>
  `the platform ended with ${platform.ended()}: ${platform.log().trimEnd().split('\n').at(-1)?.slice(0, 600) ?? ''}`;

async function aKeyOfNobody(machine: ReturnType<typeof aMachine>): Promise<string> {
  await machine.sshKey();
  return readFileSync(`${machine.home}/id`, 'utf8');
}

import { randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { sweepAll } from '@stagi/server/src/gitHosting/maintenance.ts';
import {
  addSshKey,
  aHostedProject,
  aMachine,
  aToken,
  endOf,
  type HostedProject,
  type Machine,
} from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import { refreshProject } from '@stagi/server/src/projects/recordPush.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { type Platform, spawnPlatform } from '@stagi/server/src/testing/platform.ts';
import type { Random } from './random.ts';
import { until } from './until.ts';

export interface GitPlan {
  /** Pushes that are killed, each at another point. */
  kills: number;
}

export interface GitReport {
  kills: number;
  ofThePlatform: number;
  /** Pushes that were reported as accepted, killed ones and those after them. */
  acknowledged: number;
  /** Killed pushes that were not. */
  unanswered: number;
  /** Of those, pushes that landed all the same. */
  landed: number;
  /** Leftovers that were found after the kills, and then swept. */
  swept: number;
  wrong: string[];
}

/** A push sends so much: it takes long enough to be killed within. */
const PUSH_BYTES = 3_000_000;
/** Kills are spread over a little more than the time for which a push is served. */
const BEYOND = 1.1;
const WARM_UPS = 5;
const LEFTOVER = /\.lock$|tmp_objdir-|incoming-|\/tmp_|\.keep$/;

/** Kills the git processes of pushes, or the whole platform, at points spread over the time that a push takes. */
export async function runGitKills(plan: GitPlan, random: Random, say: (line: string) => void): Promise<GitReport> {
  const app = await startTestApp({}, { role: 'api' });
  const machine = aMachine();
  let platform: Platform | null = null;
  try {
    const owner = await app.signUp();
    await addSshKey(owner, await machine.sshKey());
    const token = await aToken(app, owner);
    const project = await aHostedProject(app, owner);
    platform = await spawnPlatform({ DATABASE_URL: app.databaseUrl, STAGI_DATA: app.dataDir, LOG_LEVEL: 'fatal' });
    const ways = {
      https: project.https(token).replace(app.url.slice('http://'.length), platform.url.slice('http://'.length)),
      ssh: project.ssh.replace(`:${app.ctx.config.gitSshPort}/`, `:${platform.gitSshPort}/`),
    };
    const folder = await machine.repository('work', ways.ssh);
    const report: GitReport = {
      kills: 0,
      ofThePlatform: 0,
      acknowledged: 0,
      unanswered: 0,
      landed: 0,
      swept: 0,
      wrong: [],
    };
    const run: Run = {
      machine,
      project,
      folder,
      platform,
      random,
      report,
      sweep: () => sweep(app.ctx, project, report),
    };

    const took: number[] = [];
    for (let n = 0; n < WARM_UPS; n++) {
      await commitNoise(run, `warm-${n}`);
      const push = endOf(machine.spawn('git', ['push', '-q', n % 2 ? ways.https : ways.ssh, 'main'], { cwd: folder }));
      await served(project, push);
      const began = performance.now();
      if ((await push).code !== 0) throw new Error('a push failed that nobody killed');
      took.push(performance.now() - began);
    }
    const span = Math.min(...took);
    say(`git: a push is served for ${span.toFixed(0)} ms (least of ${WARM_UPS})`);

    let main = await tipOf(project, machine);
    for (let n = 0; n < plan.kills; n++) {
      const [way, victim] = [
        n % 2 ? ('https' as const) : ('ssh' as const),
        n % 4 === 3 ? ('platform' as const) : ('git' as const),
      ];
      const afterMs = (span * BEYOND * (n + random())) / plan.kills;
      main = await killedPush(run, { name: `kill-${n}`, url: ways[way], main, afterMs, victim });
    }
    const fsck = await machine.git(['--git-dir', project.dir, 'fsck', '--full', '--strict']);
    if (fsck.code !== 0) report.wrong.push(`fsck: ${fsck.stderr}`);

    // What the platform shows is what is there, also after pushes whose record was cut off.
    await refreshProject(app.ctx, project.id);
    const { entity } = await owner.client(api.projects.view, { id: project.id });
    if (entity.lastCommit?.sha !== main) report.wrong.push(`the page shows ${entity.lastCommit?.sha}, main is ${main}`);
    return report;
  } finally {
    await platform?.remove();
    machine.remove();
    await app.close();
  }
}

interface Run {
  machine: Machine;
  project: HostedProject;
  folder: string;
  platform: Platform;
  random: Random;
  report: GitReport;
  sweep(): Promise<void>;
}

/** Answers what `main` is then. */
async function killedPush(
  run: Run,
  {
    name,
    url,
    main,
    afterMs,
    victim,
  }: { name: string; url: string; main: string; afterMs: number; victim: 'git' | 'platform' },
): Promise<string> {
  const { machine, project, folder, platform, report } = run;
  await machine.ok(['reset', '-q', '--hard', main], { cwd: folder });
  const sha = await commitNoise(run, name);
  const push = machine.spawn('git', ['push', '-q', url, 'main'], { cwd: folder });
  const ended = endOf(push);
  await served(project, ended);
  await Promise.race([pause(afterMs), ended]);
  if (victim === 'platform') await platform.stop('SIGKILL');
  for (const pid of gitProcessesIn(project.dir)) killIfThere(pid);
  const { code } = await ended;
  report.kills += 1;
  if (victim === 'platform') {
    report.ofThePlatform += 1;
    await platform.start();
  }
  await until('the killed processes are gone', async () => gitProcessesIn(project.dir).length === 0);

  const now = await tipOf(project, machine);
  if (code === 0) {
    report.acknowledged += 1;
    if (now !== sha) report.wrong.push(`${name}: acknowledged ${sha}, main is ${now}`);
  } else {
    report.unanswered += 1;
    if (now === sha) report.landed += 1;
    else if (now !== main) report.wrong.push(`${name}: main was ${main} and is ${now}`);
  }
  const connected = await machine.git(['--git-dir', project.dir, 'fsck', '--connectivity-only', '--no-dangling']);
  if (connected.code !== 0) report.wrong.push(`${name}: ${connected.stderr}`);
  await run.sweep();

  // The next push is refused by nothing that was left.
  await machine.ok(['reset', '-q', '--hard', now], { cwd: folder });
  const next = await machine.commit(folder, 'next.txt', name);
  const { code: nextCode, stderr } = await machine.git(['push', '-q', url, 'main'], { cwd: folder });
  if (nextCode !== 0) {
    report.wrong.push(`${name}: the push after it failed: ${stderr}`);
    return now;
  }
  report.acknowledged += 1;
  return next;
}

/** Resolves when git serves a push, or the push has ended. */
async function served({ dir }: HostedProject, push: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  void push.then(() => {
    hasEnded = true;
  });
  await until('git serves the push', async () => hasEnded || gitProcessesIn(dir).length > 0, 30_000, 3);
}

async function sweep(ctx: Parameters<typeof sweepAll>[0], { dir }: HostedProject, report: GitReport): Promise<void> {
  // A commit-graph may be being written.
  await until('no git works in the repository', async () => {
    const before = leftoversIn(dir).length;
    await sweepAll(ctx, { olderThanMs: 0 });
    const left = leftoversIn(dir).length;
    report.swept += Math.max(0, before - left);
    return left === 0;
  });
}

const leftoversIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true })
    .map(String)
    .filter((name) => LEFTOVER.test(name));

const commitNoise = ({ machine, folder }: Run, name: string): Promise<string> =>
  machine.commit(folder, 'noise.bin', Buffer.concat([Buffer.from(name), randomBytes(PUSH_BYTES)]));

const tipOf = async ({ dir }: HostedProject, machine: Machine): Promise<string> =>
  (await machine.ok(['--git-dir', dir, 'rev-parse', 'main'])).trim();

/** The processes of git that serve a repository, and their hooks. */
function gitProcessesIn(dir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const cwd = readlinkSync(`/proc/${pid}/cwd`);
        return cwd === dir || cwd.startsWith(`${dir}/`);
      } catch {
        // It has ended.
        return false;
      }
    });
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export function reportGit(plan: GitPlan, report: GitReport): string[] {
  const { kills, ofThePlatform, acknowledged, unanswered, landed, swept, wrong } = report;
  console.log(
    `git: n = ${kills} kills (${ofThePlatform} of the platform), ${acknowledged} pushes acknowledged, ${unanswered} unanswered, ` +
      `of which ${landed} landed; ${swept} leftovers swept; ${wrong.length} wrong`,
  );
  const failures = [...wrong];
  if (kills !== plan.kills) failures.push(`${kills} kills instead of ${plan.kills}`);
  // Kills that hit nothing prove nothing.
  if (unanswered < plan.kills / 4) failures.push(`only ${unanswered} kills cut a push off`);
  return failures;
}

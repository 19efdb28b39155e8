import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { api } from '@stagi/contract/api.ts';
import { TASK_ENDED } from '@stagi/contract/taskRules.ts';
import type { TaskDetail } from '@stagi/contract/tasks.ts';
import { docker } from '@stagi/daemon/src/testing/image.ts';
import { sql } from 'kysely';
import { until } from '../until.ts';
import type { TaskBed } from './bed.ts';
import { INPUT_SEEN, sha256, type Work } from './work.ts';

export interface TaskAudit {
  /** How many tasks ended in each status. */
  ended: Record<string, number>;
  /** Failures that were not the command's own exit, with their reasons. */
  excused: string[];
  runs: number;
  /** Starts of containers, by Docker. */
  starts: number;
  files: number;
  bytes: number;
  wrong: string[];
}

/** Compares what became of one task with its log, its output and what Docker tells. */
export async function auditTask(bed: TaskBed, id: number, work: Work, audit: TaskAudit): Promise<void> {
  const { entity: task } = await bed.person.client(api.tasks.view, { id });
  const wrong = (what: string): void => {
    audit.wrong.push(`task ${id} (${task.status}${task.statusReason ? `, ${task.statusReason}` : ''}): ${what}`);
  };
  audit.ended[task.status] = (audit.ended[task.status] ?? 0) + 1;
  audit.runs += task.runs.length;
  const starts = await startsOf(bed, task);
  audit.starts += starts.reduce((sum, { count }) => sum + count, 0);
  for (const { run, count } of starts) if (count > 1) wrong(`run ${run} was started ${count} times`);

  const last = task.runs[0]!;
  const ranOnce = starts.every(({ count }) => count === 1);
  if (task.status === 'canceled') {
    if (work.cancelAfterMs === null) wrong('nobody canceled it');
    return;
  }
  const exit = work.exit === 'first' ? 0 : work.exit;
  const endedByItself =
    task.status === 'done' || (task.status === 'failed' && last.exitCode !== null && last.exitCode === exit);
  if (!endedByItself) {
    if (task.status !== 'failed') wrong('it has not ended');
    else if (task.statusReason) audit.excused.push(`task ${id}: ${task.statusReason}`);
    else wrong('nothing says why it failed');
    return;
  }
  if (!ranOnce) wrong(`its runs were started ${starts.map(({ count }) => count).join(', ')} times`);
  if (task.exitCode !== exit) wrong(`exit code ${task.exitCode} instead of ${exit}`);
  if ((task.status === 'done') !== (exit === 0)) wrong(`exit code ${exit}`);
  if (task.status === 'failed' && task.statusReason !== `It ended with exit code ${exit}`) wrong('another reason');
  if (work.exit === 'first' && task.runs.length < 2) wrong('its first run had to fail');
  if (last.output.phase !== 'saved') wrong(`its output is ${last.output.phase}: ${last.output.error}`);
  await auditFiles(bed, task, work, audit, wrong);
}

async function startsOf({ pool, starts }: TaskBed, task: TaskDetail): Promise<{ run: number; count: number }[]> {
  const rows = await pool.db
    .selectFrom('task_run')
    .select(['number', 'container_id'])
    .where('task_id', '=', task.id)
    .orderBy('number')
    .execute();
  return rows.map(({ number, container_id: id }) => ({ run: number, count: id === null ? 0 : starts.of(id).length }));
}

/** What it printed says what its files must hold. */
async function auditFiles(
  bed: TaskBed,
  task: TaskDetail,
  work: Work,
  audit: TaskAudit,
  wrong: (what: string) => void,
): Promise<void> {
  const printed = await logOf(bed, task.id, task.runCount);
  const ran = printed.filter((line) => line.startsWith('ran '));
  if (ran.length !== 1) return wrong(`it printed ${ran.length} times that it ran`);
  const [, ofTask, ofRun, , ofCommit] = ran[0]!.split(' ');
  if (Number(ofTask) !== task.id || Number(ofRun) !== task.runCount || ofCommit !== bed.commit)
    wrong(`it was told to be ${ran[0]}`);
  if (printed.filter((line) => line.startsWith('step ')).length !== work.tenths) wrong('it printed other steps');

  const files = await outputOf(bed, task.id);
  const names = [...files.keys()].toSorted().join(' ');
  if (names !== 'noise.bin ran.txt seen/input.txt') return wrong(`its output is ${names || 'nothing'}`);
  if (files.get('ran.txt')!.toString() !== `${ran[0]!.slice('ran '.length)}\n`) wrong('another run put out its output');
  if (files.get('seen/input.txt')!.toString() !== INPUT_SEEN) wrong('it saw other input');
  const noise = files.get('noise.bin')!;
  if (noise.length !== work.bytes || !printed.includes(`noise ${sha256(noise)}`)) wrong('a file is not what it wrote');
  const bytes = [...files.values()].reduce((sum, file) => sum + file.length, 0);
  const said = task.runs[0]!.output;
  if (said.files !== files.size || said.bytes !== bytes) wrong(`it says ${said.files} files of ${said.bytes} bytes`);
  audit.files += files.size;
  audit.bytes += bytes;
}

/** All lines of a run, once the last one is stored. */
export async function logOf({ person }: TaskBed, id: number, run: number): Promise<string[]> {
  const lines: string[] = [];
  let after = 0;
  await until(`the log of task ${id} is whole`, async () => {
    const page = await person.client(api.logging.query, {
      source: { type: 'task', id, run },
      cursor: { after },
      limit: 1_000,
    });
    lines.push(...page.lines.map(({ text }) => text));
    after = page.lines.at(-1)?.seq ?? after;
    return lines.at(-1) === 'end';
  });
  return lines;
}

async function outputOf({ person }: TaskBed, id: number): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const folders = [''];
  for (let prefix = folders.pop(); prefix !== undefined; prefix = folders.pop()) {
    const level = await person.client(api.tasks.output, { id, prefix });
    folders.push(...level.folders);
    for (const { key } of level.objects) {
      const { link } = await person.client(api.tasks.outputLink, { id, key });
      const answer = await fetch(link);
      if (!answer.ok) throw new Error(`the output ${key} of task ${id} is answered with ${answer.status}`);
      files.set(key, Buffer.from(await answer.arrayBuffer()));
    }
  }
  return files;
}

/**
 * What must not remain once all tasks have ended: containers, what daemons keep of them, rows, uploads and keys. Waits a
 * while for what is removed in the background.
 */
export async function leftovers(bed: TaskBed): Promise<string[]> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const left = await findLeftovers(bed);
    if (left.length === 0 || Date.now() > deadline) return left;
    await pause(500);
  }
}

async function findLeftovers({ pool, servers }: TaskBed): Promise<string[]> {
  const left: string[] = [];
  for (const { daemon } of servers) {
    const label = Object.entries(daemon.labels).map(([name, value]) => `${name}=${value}`);
    for (const { Names } of await docker.listContainers({ all: true, filters: { label } }))
      left.push(`container ${Names.join(' ')}`);
    const records = JSON.parse(await readFile(join(daemon.folder, 'state/containers.json'), 'utf8')) as object;
    for (const id of Object.keys(records)) left.push(`the record of container ${id}`);
  }
  const { rows } = await sql<{ what: string; n: number }>`
    select 'unfinished tasks' as what, count(*)::integer as n from task where not status = any(${[...TASK_ENDED]})
    union all select 'runs that have not ended', count(*) from task_run where ended_at is null
    union all select 'rows of containers', count(*) from container where deleted_at is null
    union all select 'uploads in parts', count(*) from s3_upload
    union all select 'objects being written', count(*) from s3_blob where state <> 'stored'
    union all select 'keys of runs', count(*) from s3_key where purpose = 'task' and revoked_at is null`.execute(
    pool.db,
  );
  for (const { what, n } of rows) if (Number(n) > 0) left.push(`${n} ${what}`);
  return left;
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts';

const isRoot = process.getuid?.() === 0;
const canMount = isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0;
const NOBODY = 65534;

/** A cluster as a first start leaves it: most tests want one, and making it takes longer than all they do with it. */
const made = mkdtempSync(join(tmpdir(), 'stagi-pg-made-'));
beforeAll(async () => {
  await (await startEmbeddedPostgres({ dataDir: made, log: { info: () => {}, warn: () => {} } })).stop();
}, 120_000);
afterAll(() => rmSync(made, { recursive: true, force: true }));

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

describe('startEmbeddedPostgres', { timeout: 120_000 }, () => {
  it('creates a checksummed UTF-8 database that only a Unix socket reaches', async () => {
    const { url, adopted } = await start(newDirectory());
    expect(adopted).toBe(false);
    expect(await ask(url, 'show data_checksums')).toBe('on');
    expect(await ask(url, 'show fsync')).toBe('on');
    expect(await ask(url, 'show listen_addresses')).toBe('');
    expect(await ask(url, `select lower('ÇĞЖ') || current_database()`)).toBe('çğжstagi');
    const socketDir = new URL(url).searchParams.get('host')!;
    expect(statSync(socketDir).mode & 0o777).toBe(0o700);
  });

  it('keeps its data over a restart', async () => {
    const dataDir = directoryWithCluster();
    const first = await start(dataDir);
    await remember(first.url, 'before');
    await first.stop();
    await first.stop();
    expect(existsSync(join(dataDir, 'cluster', 'postmaster.pid'))).toBe(false);
    const second = await start(dataDir);
    expect(second.adopted).toBe(false);
    expect(await recall(second.url)).toBe('before');
  });

  it('adopts the server of a launcher that was killed, and can stop it', async () => {
    const dataDir = directoryWithCluster();
    const launcher = await startElsewhere(dataDir);
    await remember(launcher.url, 'written before the kill');
    const pid = postmaster(dataDir);
    await kill(launcher.process);

    const { url, adopted, stop } = await start(dataDir);
    expect(adopted).toBe(true);
    expect(postmaster(dataDir)).toBe(pid);
    expect(await recall(url)).toBe('written before the kill');
    await stop();
    await expect(ask(url, 'select 1')).rejects.toThrow();
  });

  it('leaves Ctrl-C in the terminal to the launcher: the server is in another process group', async () => {
    const dataDir = directoryWithCluster();
    await start(dataDir);
    const group = readFileSync(`/proc/${postmaster(dataDir)}/stat`, 'utf8')
      .split(') ')[1]!
      .split(' ')[2];
    expect(Number(group)).toBe(postmaster(dataDir));
  });

  it('shares the server of a live launcher and does not stop it', async () => {
    const dataDir = directoryWithCluster();
    const launcher = await startElsewhere(dataDir);
    const { adopted, stop } = await start(dataDir);
    expect(adopted).toBe(true);
    await stop();
    expect(await ask(launcher.url, 'select 1 + 1')).toBe(2);
  });

  it('recovers what was committed when launcher and server were both killed', async () => {
    const dataDir = directoryWithCluster();
    const launcher = await startElsewhere(dataDir);
    await remember(launcher.url, 'committed');
    process.kill(postmaster(dataDir), 'SIGKILL');
    await kill(launcher.process);
    const { url, adopted } = await start(dataDir);
    expect(adopted).toBe(false);
    expect(await recall(url)).toBe('committed');
  });

  it('restarts a killed server', async () => {
    const dataDir = directoryWithCluster();
    const warnings: string[] = [];
    const { url } = await start(dataDir, warnings);
    await remember(url, 'committed');
    const pid = postmaster(dataDir);
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => expect(postmaster(dataDir)).not.toBe(pid), { timeout: 20_000, interval: 50 });
    await vi.waitFor(async () => expect(await recall(url)).toBe('committed'), { timeout: 20_000, interval: 50 });
    expect(warnings).toContain('PostgreSQL is gone; starting it again');
  });

  it('ignores a stale lock whose process id now belongs to another process', async () => {
    const dataDir = directoryWithCluster();
    const first = await start(dataDir);
    const lockFile = join(dataDir, 'cluster', 'postmaster.pid');
    const lock = readFileSync(lockFile, 'utf8');
    await first.stop();
    writeFileSync(lockFile, lock.replace(/^\d+/, String(process.pid)));
    writeFileSync(join(dataDir, 'owner'), `${process.ppid} 1\n`);
    expect((await start(dataDir)).adopted).toBe(false);
  });

  it('recovers from a first start that was interrupted', async () => {
    const dataDir = newDirectory();
    mkdirSync(join(dataDir, 'cluster.new', 'base'), { recursive: true });
    writeFileSync(join(dataDir, 'cluster.new', 'PG_VERSION'), '18\n');
    const { url } = await start(dataDir);
    expect(await ask(url, 'select 1 + 1')).toBe(2);
  });

  it('serves a directory too deep for a socket path', async () => {
    const parent = join(newDirectory(), 'd'.repeat(60));
    mkdirSync(parent);
    const { url } = await start(join(parent, 'e'.repeat(60)));
    expect(await ask(url, 'select 1 + 1')).toBe(2);
  });

  it('says in one line that the path is no directory', async () => {
    const file = join(newDirectory(), 'file');
    writeFileSync(file, '');
    await expect(start(file)).rejects.toThrow(/^PostgreSQL cannot use .*file: [^\n]+$/);
  });

  it('says in one line what is wrong with the data', async () => {
    const dataDir = directoryWithCluster();
    await (await start(dataDir)).stop();
    writeFileSync(join(dataDir, 'cluster', 'PG_VERSION'), '9\n');
    await expect(start(dataDir)).rejects.toThrow(
      'PostgreSQL cannot start: database files are incompatible with server',
    );
  });

  it.runIf(canMount)('says in one line that the disk is full', async () => {
    const dataDir = newDirectory();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', dataDir]);
    expect(mounted.status).toBe(0);
    undo.push(() => spawnSync('umount', [dataDir]));
    await expect(start(dataDir)).rejects.toThrow(/^PostgreSQL cannot [^\n]*No space left on device[^\n]*$/);
  });

  it.runIf(isRoot)('runs as an ordinary user, and root can use the same directory later', async () => {
    const dataDir = newDirectory();
    chownSync(dataDir, NOBODY, NOBODY);
    chmodSync(dataDir, 0o700);
    const launcher = await startElsewhere(dataDir, [
      'setpriv',
      `--reuid=${NOBODY}`,
      `--regid=${NOBODY}`,
      '--clear-groups',
    ]);
    await remember(launcher.url, 'as nobody');
    launcher.process.kill('SIGTERM');
    await once(launcher.process, 'exit');
    const { url } = await start(dataDir);
    expect(await recall(url)).toBe('as nobody');
    expect(statSync(`/proc/${postmaster(dataDir)}`).uid).toBe(NOBODY);
  });

  it.runIf(isRoot)('tells an ordinary user that the directory is not theirs', async () => {
    const dataDir = directoryWithCluster();
    await (await start(dataDir)).stop();
    const stranger = NOBODY - 1;
    const command = ['setpriv', `--reuid=${stranger}`, `--regid=${stranger}`, '--clear-groups', process.execPath];
    const { stderr } = spawnSync(command[0]!, [...command.slice(1), '--input-type=module', '-e', program(dataDir)]);
    expect(String(stderr)).toMatch(/PostgreSQL cannot use .*(permission denied|not permitted)/);
  });
});

function newDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'stagi-pg-'));
  chmodSync(directory, 0o755);
  undo.push(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A copy of a cluster that was stopped. */
function directoryWithCluster() {
  const directory = newDirectory();
  cpSync(made, directory, { recursive: true, preserveTimestamps: true });
  return directory;
}

async function start(dataDir: string, warnings: string[] = []): Promise<EmbeddedPostgres> {
  const log = { info: () => {}, warn: (line: string) => void warnings.push(line) };
  const server = await startEmbeddedPostgres({ dataDir, log });
  undo.push(() => server.stop());
  return server;
}

/** Starts it from another process, which stops it and exits on SIGTERM. */
async function startElsewhere(dataDir: string, prefix: string[] = []) {
  const command = [...prefix, process.execPath, '--input-type=module', '-e', program(dataDir)];
  const child = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
  undo.push(() => child.kill('SIGTERM') && once(child, 'exit'));
  const [url] = (await once(createInterface(child.stdout!), 'line')) as [string];
  return { url, process: child };
}

const program = (dataDir: string) => `
  const { startEmbeddedPostgres } = await import(${JSON.stringify(new URL('./embedded.ts', import.meta.url).href)});
  const log = { info() {}, warn() {} };
  const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log });
  const hold = setInterval(() => {}, 1000);
  process.on('SIGTERM', () => server.stop().then(() => clearInterval(hold)));
  console.log(server.url);
`;

async function kill(child: ChildProcess) {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const postmaster = (dataDir: string) =>
  Number.parseInt(readFileSync(join(dataDir, 'cluster', 'postmaster.pid'), 'utf8'), 10);

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const result = await client.query({ text: sql, rowMode: 'array' });
  await client.end();
  return result.rows[0]?.[0];
}

const remember = (url: string, word: string) => ask(url, `create table memory as select '${word}' as word`);
const recall = (url: string) => ask(url, 'select word from memory');

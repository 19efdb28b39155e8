import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/**
 * Stands in for npm: makes the project's Node and a program of a package appear, and notes that it was called. It waits
 * until somebody writes into the pipe that GATE names.
 */
const FAKE_NPM = `#!/bin/sh
echo "$@" >> "$ROOT/npm.log"
mkdir -p node_modules/.bin
[ -z "$GATE" ] || cat "$GATE"
[ -z "$NPM_FAILS" ] || exit 1
for folder in packages/*; do mkdir -p $folder/node_modules/nested; done
cp /bin/cat node_modules/cat
ln -s ${process.execPath} node_modules/.bin/node
`;

describe('bootstrap', () => {
  let root: string;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'stagi-bootstrap-'));
    for (const folder of ['scripts', 'bin']) mkdirSync(join(root, folder));
    for (const name of ['bootstrap', 'fileLock', 'install', 'libatomic', 'readOnly', 'usedFolders'])
      cpSync(join(import.meta.dirname, `${name}.mjs`), join(root, `scripts/${name}.mjs`));
    write('package.json', JSON.stringify({ devDependencies: { node: process.versions.node } }));
    write('package-lock.json', '{}');
    write('bin/npm', FAKE_NPM);
    chmodSync(join(root, 'bin/npm'), 0o755);
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  });

  it('installs the packages once for each state of the lock file', () => {
    write('scripts/check.ts', 'console.log("ran", ...process.argv.slice(2))');
    for (let n = 0; n < 2; n += 1) expect(bootstrap('check', 'a', 'b').stdout).toContain('ran a b');
    expect(npmCalls()).toHaveLength(1);
    expect(npmCalls()[0]).toMatch(/^ci .*--include=dev/);
    write('package-lock.json', '{"changed":true}');
    bootstrap('check');
    expect(npmCalls()).toHaveLength(2);
  });

  it('gives the platform the settings of stagi.env, after those of the environment', () => {
    write('scripts/operator.ts', 'console.log(process.env.PORT, process.env.SMTP_URL, process.env.S3_LOCATIONS)');
    write('scripts/check.ts', 'console.log(process.env.PORT)');
    write('stagi.env', `PORT=1\nSMTP_URL=smtp://x # by the hoster\nS3_LOCATIONS='[{"name": "$eu"}]'\n`);
    expect(bootstrap('operator').stdout).toContain('1 smtp://x [{"name": "$eu"}]\n');
    expect(bootstrapWith({ PORT: '2' }, 'operator').stdout).toContain('2 smtp://x');
    expect(bootstrap('check').stdout).toContain('undefined');
    write('other.env', 'PORT=3');
    expect(bootstrapWith({ STAGI_ENV_FILE: join(root, 'other.env') }, 'operator').stdout).toContain('3 undefined');
    const missing = bootstrapWith({ STAGI_ENV_FILE: '/nonexistent/stagi.env' }, 'operator');
    expect([missing.status, missing.stderr]).toEqual([
      1,
      'STAGI_ENV_FILE names /nonexistent/stagi.env, which cannot be read: ENOENT\n',
    ]);
  });

  it('tells people at a terminal how long the installation took', () => {
    write('scripts/check.ts', 'console.log("ran")');
    const command = `${process.execPath} scripts/bootstrap.mjs check`;
    const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      cwd: root,
      encoding: 'utf8',
      env: environment(),
    });
    expect(stdout).toMatch(/✓ Packages installed {2}\d+\.\d s\r\nran\r\n$/);
  });

  it('does not install what a plain npm install has just put in place', () => {
    write('scripts/check.ts', '');
    install();
    expect(bootstrap('check').status).toBe(0);
    expect(npmCalls()).toHaveLength(0);
  });

  it('passes on the exit code', () => {
    write('scripts/check.ts', 'process.exit(7)');
    expect(bootstrap('check').status).toBe(7);
  });

  it('says what it can run', () => {
    const { status, stderr } = bootstrap('nonsense');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^usage: .*start/);
  });

  it('refuses a Node.js other than the one the project asks for', () => {
    write('package.json', JSON.stringify({ devDependencies: { node: '26.0.0' } }));
    write('scripts/check.ts', '');
    expect(bootstrap('check').stderr).toMatch(/instead of 26\.0\.0/);
  });

  it('passes a signal on once, although npm and the terminal both send it', async () => {
    write(
      'scripts/check.ts',
      'process.on("SIGINT", () => console.log("asked")); process.stdin.once("data", () => process.exit(3)); console.log("up")',
    );
    install();
    const { child, line } = start('check');
    expect(await line()).toBe('up');
    child.kill('SIGINT');
    expect(await line()).toBe('asked');
    child.kill('SIGINT');
    child.stdin.write('\n');
    expect(await line()).toBeUndefined();
    expect(child.exitCode ?? (await once(child, 'exit'))[0]).toBe(3);
  });

  it('lets the script notice that the bootstrap was killed', async () => {
    write(
      'scripts/check.ts',
      'process.once("disconnect", () => { console.log("alone"); process.exit(); }); console.log("up")',
    );
    install();
    const { child, line } = start('check');
    expect(await line()).toBe('up');
    child.kill('SIGKILL');
    expect(await line()).toBe('alone');
  });

  describe('started several times at once', () => {
    it('installs once, and the others wait and say so', async () => {
      write('scripts/check.ts', 'console.log("ran")');
      const gate = makeGate();
      const starts = Array.from({ length: 4 }, () => startAndRead({ GATE: gate }));
      const waiting = () => starts.filter(({ output }) => output().includes('Another start is installing'));
      await expect.poll(() => waiting().length).toBe(3);
      await expect.poll(npmCalls).toHaveLength(1);
      write('gate', '');
      for (const { end } of starts) expect(await end()).toBe(0);
      for (const { output } of starts) expect(output()).toMatch(/ran\n$/);
      expect(npmCalls()).toHaveLength(1);
    });

    it('makes an installation anew that was killed, and keeps the former one until then', async () => {
      write('scripts/check.ts', '');
      expect(bootstrap('check').status).toBe(0);
      const former = realpathSync(join(root, 'node_modules'));
      write('package-lock.json', '{"changed":true}');
      const killed = startAndRead({ GATE: makeGate() });
      await expect.poll(npmCalls).toHaveLength(2);
      killed.child.kill('SIGKILL');
      await killed.end();
      expect(realpathSync(join(root, 'node_modules'))).toBe(former);
      // The killed one's npm lives on, without a hold on the lock.
      expect(bootstrap('check').status).toBe(0);
      expect(npmCalls()).toHaveLength(3);
      expect(realpathSync(join(root, 'node_modules'))).not.toBe(former);
      expect(existsSync(join(root, 'node_modules/cat'))).toBe(true);
      write('gate', '');
      await expect.poll(installationsAfterStart).toHaveLength(1);
    });

    it('makes an installation anew that lacks its stamp', () => {
      write('scripts/check.ts', '');
      bootstrap('check');
      rmSync(join(root, 'node_modules/.stagi-lock-sha256'));
      rmSync(join(root, 'node_modules/cat'));
      expect(bootstrap('check').status).toBe(0);
      expect(existsSync(join(root, 'node_modules/cat'))).toBe(true);
    });
  });

  describe('after an upgrade', () => {
    it('keeps the former installation while a process runs on it', async () => {
      write('scripts/check.ts', '');
      bootstrap('check');
      const former = realpathSync(join(root, 'node_modules'));
      const user = runFrom(former);
      write('package-lock.json', '{"changed":true}');
      for (let n = 0; n < 2; n += 1) expect(bootstrap('check').status).toBe(0);
      expect(existsSync(join(former, 'cat'))).toBe(true);
      user.kill();
      await expect.poll(installationsAfterStart).toHaveLength(1);
      expect(existsSync(former)).toBe(false);
    });

    it('moves what an older version installed aside, and removes it when no process runs on it', async () => {
      write('scripts/check.ts', '');
      addWorkspace('a');
      mkdirSync(join(root, 'packages/a/node_modules/old'), { recursive: true });
      install();
      cpSync('/bin/cat', join(root, 'node_modules/cat'));
      const user = runFrom(join(root, 'node_modules'));
      write('package-lock.json', '{"changed":true}');
      expect(bootstrap('check').status).toBe(0);
      expect(readlinkSync(join(root, 'node_modules'))).toBe('.installed/current/node_modules');
      expect(readdirSync(join(root, 'packages/a/node_modules'))).toEqual(['nested']);
      const program = readlinkSync(`/proc/${user.pid}/exe`);
      expect(program).toContain(join(root, '.installed'));
      expect(existsSync(join(program, '../../packages/a/node_modules/old'))).toBe(true);
      user.kill();
      await expect.poll(installationsAfterStart).toHaveLength(1);
    });

    it('goes on with a move that was interrupted', () => {
      write('scripts/check.ts', '');
      addWorkspace('a');
      bootstrap('check');
      rmSync(join(root, 'node_modules'));
      rmSync(join(root, 'packages/a/node_modules'));
      mkdirSync(join(root, 'packages/a/node_modules/old'), { recursive: true });
      expect(bootstrap('check').status).toBe(0);
      expect(readdirSync(join(root, 'packages/a/node_modules'))).toEqual(['nested']);
      expect(npmCalls()).toHaveLength(1);
    });

    it('uses what a plain npm install has put in place of the link, with the packages that it left where they are', () => {
      write('scripts/check.ts', '');
      addWorkspace('a');
      bootstrap('check');
      write('package-lock.json', '{"changed":true}');
      rmSync(join(root, 'node_modules'));
      install();
      expect(bootstrap('check').status).toBe(0);
      expect(npmCalls()).toHaveLength(1);
      for (const path of ['node_modules', 'packages/a/node_modules', 'packages/a/node_modules/nested'])
        expect(lstatSync(join(root, path)).isDirectory()).toBe(true);
    });

    it('installs anew when a plain npm install has left packages out', () => {
      write('scripts/check.ts', '');
      addWorkspace('a');
      mkdirSync(join(root, 'node_modules'));
      const packages = { 'node_modules/.bin': {}, 'packages/a/node_modules/nested': {} };
      write('node_modules/.package-lock.json', JSON.stringify({ packages }));
      expect(install().stdout).toContain('npm has left out packages/a/node_modules/nested');
      expect(bootstrap('check').status).toBe(0);
      expect(npmCalls()).toHaveLength(1);
      expect(existsSync(join(root, 'packages/a/node_modules/nested'))).toBe(true);
    });
  });

  it('resolves packages of the project to their sources, also where the checkout was copied', () => {
    write('scripts/check.ts', '');
    addWorkspace('a');
    bootstrap('check');
    const copy = join(root, 'copy');
    mkdirSync(copy);
    for (const name of readdirSync(root).filter((one) => one !== 'copy'))
      spawnSync('cp', ['-a', join(root, name), copy]);
    for (const checkout of [root, copy]) {
      expect(realpathSync(join(checkout, 'node_modules/@test/a'))).toBe(join(checkout, 'packages/a'));
      const { status } = spawnSync(process.execPath, ['scripts/bootstrap.mjs', 'check'], { cwd: checkout });
      expect(status).toBe(0);
    }
    expect(npmCalls()).toHaveLength(1);
  });

  it('ends with a sentence when the packages cannot be installed, and tries again', () => {
    write('scripts/installOnly.ts', 'console.log("built")');
    const failed = bootstrapWith({ NPM_FAILS: '1' }, 'installOnly');
    expect(failed.status).toBe(1);
    expect(failed.stderr).toMatch(/^The packages cannot be installed: .*\n$/);
    const { status, stdout } = bootstrap('installOnly');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Installing packages …\nbuilt\n' });
  });

  describe('in a checkout that its user may only read', () => {
    afterEach(() => void spawnSync('chmod', ['-R', 'u+w', root]));

    it('runs what its owner has installed, and leaves former installations alone', () => {
      write('scripts/check.ts', 'console.log("ran")');
      bootstrap('check');
      mkdirSync(join(root, '.installed/former'));
      expect(bootstrapReadOnly('check')).toEqual({ status: 0, stdout: 'ran\n', stderr: '' });
      expect(existsSync(join(root, '.installed/former'))).toBe(true);
      expect(npmCalls()).toHaveLength(1);
    });

    it('says who has to install what is not installed', () => {
      write('scripts/check.ts', '');
      expect(bootstrapReadOnly('check')).toEqual({
        status: 1,
        stdout: '',
        stderr: `The packages are not installed, and this user may only read ${root}: run npm run install-only there as its owner.\n`,
      });
      expect(npmCalls()).toHaveLength(0);
    });

    function bootstrapReadOnly(...args: string[]) {
      spawnSync('chmod', ['-R', 'a-w', root]);
      // Else root may write everywhere.
      const asOthers = ['setpriv', '--bounding-set=-dac_override', '--inh-caps=-dac_override'];
      const command = [
        ...(process.getuid?.() === 0 ? asOthers : []),
        process.execPath,
        'scripts/bootstrap.mjs',
        ...args,
      ];
      const { status, stdout, stderr } = spawnSync(command[0]!, command.slice(1), {
        cwd: root,
        encoding: 'utf8',
        env: environment(),
      });
      return { status, stdout, stderr };
    }
  });

  const write = (path: string, text: string) => writeFileSync(join(root, path), text);

  function install() {
    mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
    symlinkSync(process.execPath, join(root, 'node_modules/.bin/node'));
    const done = bootstrap('installed');
    expect(done.status).toBe(0);
    return done;
  }

  function addWorkspace(name: string) {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    write('package.json', JSON.stringify({ ...manifest, workspaces: ['packages/*'] }));
    mkdirSync(join(root, 'packages', name), { recursive: true });
    write(`packages/${name}/package.json`, JSON.stringify({ name: `@test/${name}` }));
  }

  /** A pipe, by which a test tells npm to go on. */
  function makeGate() {
    expect(spawnSync('mkfifo', [join(root, 'gate')]).status).toBe(0);
    return join(root, 'gate');
  }

  /** A process of a package's program. */
  function runFrom(modules: string) {
    const child = spawn(join(modules, 'cat'), { stdio: ['pipe', 'ignore', 'inherit'] });
    children.push(child);
    return child;
  }

  /** Folders of packages that are left once another start has looked for those that nobody uses. */
  function installationsAfterStart() {
    expect(bootstrap('check').status).toBe(0);
    return readdirSync(join(root, '.installed')).filter((name) => !['current', 'lock'].includes(name));
  }

  const environment = () => {
    const { npm_execpath, npm_lifecycle_event, ...env } = process.env;
    return { ...env, ROOT: root, PATH: `${join(root, 'bin')}:${process.env.PATH}` };
  };

  const bootstrapWith = (env: Record<string, string>, ...args: string[]) =>
    spawnSync(process.execPath, ['scripts/bootstrap.mjs', ...args], {
      cwd: root,
      encoding: 'utf8',
      env: { ...environment(), ...env },
    });

  const bootstrap = (...args: string[]) => bootstrapWith({}, ...args);

  function startAndRead(env: Record<string, string>) {
    const child = spawn(process.execPath, ['scripts/bootstrap.mjs', 'check'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...environment(), ...env },
    });
    children.push(child);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const ended = once(child, 'exit');
    return { child, output: () => output, end: async () => ((await ended) as [number | null])[0] };
  }

  function start(...args: string[]) {
    const command = [join(root, 'scripts/bootstrap.mjs'), ...args];
    const child = spawn(process.execPath, command, {
      cwd: root,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: environment(),
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    return { child, line: async () => (await lines.next()).value as string | undefined };
  }

  function npmCalls() {
    try {
      return readFileSync(join(root, 'npm.log'), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('ci'));
    } catch {
      return [];
    }
  }
});

import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { expect, it } from 'vitest';
import { hostCommand, hostShell } from './hostShell.ts';
import type { ShellProcess } from './shellProcess.ts';
import type { TerminalRecord } from './terminalRecords.ts';

interface Opened {
  shell: ShellProcess;
  record: Omit<TerminalRecord, 'bootId'> | null;
  type(input: string): void;
  prints(text: string): Promise<void>;
  ended: Promise<void>;
}

async function open(): Promise<Opened> {
  const opened = { record: null } as Opened;
  const shell = await hostShell({ shell: 'sh', cols: 90, rows: 20 }, async (record) => {
    opened.record = record;
  });
  let output = '';
  const looks = new Set<() => void>();
  shell.terminal.on('data', (data: Buffer) => {
    output += data.toString();
    for (const look of looks) look();
  });
  return Object.assign(opened, {
    shell,
    type: (input: string) => void shell.terminal.write(Buffer.from(input)),
    async prints(text: string) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = (): void => {
        if (output.includes(text)) resolve();
      };
      looks.add(look);
      look();
      await promise;
      looks.delete(look);
    },
    ended: new Promise<void>((resolve) => shell.terminal.once('end', resolve)),
  });
}

const stateOf = async (pid: number): Promise<string> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'State:\tgone');
  return /^State:\t(\w+)/m.exec(status)![1]!;
};

it('is a login shell of this server, with a size and an exit code', async () => {
  const { shell, type, prints, ended } = await open();
  type('stty size; echo $HOME $0\n');
  await prints('20 90');
  await prints(`${userInfo().homedir} /bin/sh`);
  await shell.resize({ cols: 132, rows: 43 });
  type('stty size; echo 日本語 🚀\n');
  await prints('43 132');
  await prints('\n日本語 🚀');
  type('exit 3\n');
  await ended;
  expect(await shell.exitCode()).toBe(3);
});

it('ends with what runs in it, also what does not heed a hang-up', async () => {
  const { shell, record, type, prints, ended } = await open();
  type(
    'trap "" HUP; (trap "" HUP TERM; echo pid $(sh -c \'echo $PPID\') ; while :; do sleep 1000; done) & echo wai""ts\n',
  );
  await prints('waits');
  expect(record?.mark).toMatchObject({ pid: expect.any(Number), startedAt: expect.any(Number) });
  await shell.kill();
  await ended;
  expect(await stateOf(record!.mark!.pid)).toBe('gone');
});

it('runs in a unit of its own where systemd is, outside the restrictions of the daemon', () => {
  const { program, args } = hostCommand('/bin/bash', 'stagi-terminal-1');
  expect(program).toBe('systemd-run');
  expect(args).toEqual(expect.arrayContaining(['--pty', '--wait', '--collect', '--unit=stagi-terminal-1']));
  expect(args.slice(args.indexOf('--'))).toEqual(['--', '/bin/bash', '-l']);
  expect(args).toContain('--setenv=TERM=xterm-256color');
});

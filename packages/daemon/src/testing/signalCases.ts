import { ensureProgramImage } from './programImage.ts';

const PERL = '#!/usr/bin/perl\n$| = 1;\n';
const WAIT = 'select(undef, undef, undef, 0.05) while 1;\n';
const saver = (signal: string) =>
  `${PERL}$SIG{${signal}} = sub { select(undef, undef, undef, 0.4); print join(" ", "saved", @ARGV), "\\n"; exit 0 };\nprint "ready\\n";\n${WAIT}`;

/** Programs of the image. `train` needs a moment to save its work when it is stopped. */
const SCRIPTS = {
  'bin/train': saver('TERM'),
  'bin/train-int': saver('INT'),
  /** Does nothing about the signal. */
  'bin/plain': `${PERL}print "ready\\n";\n${WAIT}`,
  'bin/stubborn': `${PERL}$SIG{TERM} = 'IGNORE';\nprint "ready\\n";\n${WAIT}`,
  /** Starts the program and waits for it, as launchers do. */
  'bin/launcher': `${PERL}system("train"); print "next\\n";\n`,
  /** Passes the signal on to its worker, and wants to hear from it. */
  'bin/leader': `${PERL}my $kid = fork() || exec("train", "worker");
$SIG{TERM} = sub { kill "TERM", $kid; waitpid($kid, 0); print "led\\n"; exit 0 };\n${WAIT}`,
  'bin/script': '#!/bin/sh\ntrain\necho next\n',
  'bin/dash-script': '#!/bin/dash\nset -e\ntrain\necho next\n',
  'bin/bash-script': '#!/bin/bash\nset -euo pipefail\ntrain | cat\necho next\n',
  'bin/trap-script': '#!/bin/sh\ntrap "echo trapped" TERM\ntrain\n',
  'bin/forward-script': '#!/bin/bash\ntrap \'kill -TERM "$kid"; wait "$kid"\' TERM\ntrain & kid=$!\nwait "$kid"\n',
};

/** The image, and one whose program and stop signal are others. */
export async function ensureSignalImages(): Promise<{ term: string; int: string }> {
  const programs = ['/usr/bin/perl', '/bin/dash', '/bin/bash'];
  const base = { programs, scripts: SCRIPTS };
  const changes = ['STOPSIGNAL SIGINT', 'ENTRYPOINT ["train-int"]'];
  return {
    term: await ensureProgramImage({ name: 'stagi-test-signals', ...base }),
    int: await ensureProgramImage({ name: 'stagi-test-signals-int', ...base, changes }),
  };
}

export interface SignalCase {
  name: string;
  /** For `/bin/sh -c`, of a task. */
  line: string;
  /** Lines after `ready`, in any order. */
  says: string[];
  exitCode: number;
}

const saves = (name: string, line: string, more: Partial<SignalCase> = {}): SignalCase => ({
  name,
  line,
  says: ['saved'],
  exitCode: 143,
  ...more,
});

/** Stopped once they have said `ready`. None may go on with its next command. */
export const SIGNAL_CASES: SignalCase[] = [
  saves('a single command', 'train', { exitCode: 0 }),
  saves('exec', 'exec train', { exitCode: 0 }),
  saves('a chain with &&', 'train && echo next'),
  saves('a chain with ||', 'train || echo next'),
  saves('a chain with ;', 'train; echo next'),
  saves('set -e', 'set -e; train; echo next'),
  saves('a loop', 'while :; do train; done'),
  saves('a subshell', '(train; echo next); echo next'),
  saves('a function', 'go() { train; echo next; }; go; echo next'),
  saves('a pipeline', 'train | cat'),
  saves('a pipeline with a chain', 'train 2>&1 | cat | cat && echo next'),
  saves('a pipeline into a file', 'train | busybox tee /tmp/log && echo next'),
  saves('background jobs and wait', 'train a & train b & wait; echo next', { says: ['saved a', 'saved b'] }),
  saves('a background job beside a program', 'train a & train b; echo next', { says: ['saved a', 'saved b'] }),
  saves('a background job that knows no signal', 'sleep 1000 & train; echo next'),
  saves('a shell in a shell', `sh -c "sh -c 'train; echo next'; echo next"; echo next`),
  saves('dash', `/bin/dash -c 'train; echo next'; echo next`),
  saves('bash', `/bin/bash -c 'train && echo next' && echo next`),
  saves('a script', 'script; echo next'),
  saves('a script of dash with set -e', 'dash-script && echo next'),
  saves('a script of bash with pipefail', 'bash-script && echo next'),
  saves('a script with a trap', 'trap-script && echo next', { says: ['saved', 'trapped'] }),
  saves('a script that passes the signal on', 'forward-script && echo next'),
  saves('a trap in the line', "trap 'echo trapped; exit 7' TERM; train; echo next", {
    says: ['saved', 'trapped'],
    exitCode: 7,
  }),
  saves('a launcher', 'launcher; echo next'),
  saves('a launcher with timeout', 'busybox timeout 600 train; echo next'),
  saves('a leader of workers', 'leader; echo next', { says: ['saved worker', 'led'] }),
  saves('a program without a handler', 'plain', { says: [] }),
  saves('a program without a handler in a chain', 'plain && echo next', { says: [] }),
];

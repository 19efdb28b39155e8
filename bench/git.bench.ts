/**
 * Clone and push over HTTP against `git http-backend` behind nginx and fcgiwrap (Debian's packages), in one run and in
 * turn, on copies of one repository: medians of 5. The baseline checks no permission and records nothing. `--mb=`
 * changes the size.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { aHostedProject, aMachine, aToken } from '@stagi/server/src/gitHosting/testing/gitClient.ts';
import { startTestApp } from '@stagi/server/src/testing/app.ts';
import { startTestPostgres } from '@stagi/server/src/testing/database.ts';
import { report } from './report.ts';

const ROUNDS = 5;
const MB = Number(process.argv.find((argument) => argument.startsWith('--mb='))?.slice(5) ?? 50);
const FILES = 200;
const MOST = 1.25;
const [NGINX, FCGIWRAP] = ['/usr/sbin/nginx', '/usr/sbin/fcgiwrap'];

for (const program of [NGINX, FCGIWRAP])
  if (!existsSync(program)) throw new Error(`${program} is needed: install Debian's packages nginx-light and fcgiwrap`);

const postgres = await startTestPostgres();
const app = await startTestApp({ LOG_LEVEL: 'silent' }, { role: 'api' });
const machine = aMachine();
let servers: ChildProcess[] = [];
try {
  const owner = await app.signUp();
  const project = await aHostedProject(app, owner);
  const ours = project.https(await aToken(app, owner));
  const root = join(machine.home, 'root');
  mkdirSync(root);
  const port = await freePort();
  const theirs = `http://127.0.0.1:${port}/baseline.git`;

  const folder = await machine.repository('work', ours);
  for (let n = 0; n < FILES; n++) writeFileSync(join(folder, `file-${n}`), randomBytes((MB * 1_000_000) / FILES));
  await machine.commit(folder, 'last', 'last');
  await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
  cpSync(project.dir, join(root, 'baseline.git'), { recursive: true });
  await machine.ok(['--git-dir', join(root, 'baseline.git'), 'config', 'http.receivepack', 'true']);
  servers = await startBaseline(root, port);

  const clones = await inTurn([ours, theirs], async (url, n) => {
    const target = join(machine.home, `clone-${n}`);
    await machine.ok(['clone', '-q', '--no-checkout', url, target]);
    return () => machine.run('rm', ['-rf', target]);
  });
  report(`clone of ${MB} MB`, clones[0]!, clones[1]!, { unit: 'ms', goal: `≤ ${MOST}`, ok: (ratio) => ratio <= MOST });

  // The same commits to both, each new to both.
  let n = 0;
  const pushes: number[][] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    n += 1;
    await machine.commit(folder, `new-${n}`, randomBytes((MB * 1_000_000) / 5));
    for (const side of round % 2 ? [1, 0] : [0, 1]) {
      const began = performance.now();
      await machine.ok(['push', '-q', [ours, theirs][side]!, 'main'], { cwd: folder });
      pushes[side]!.push(performance.now() - began);
    }
  }
  report(`push of ${MB / 5} MB`, pushes[0]!, pushes[1]!, {
    unit: 'ms',
    goal: `≤ ${MOST}`,
    ok: (ratio) => ratio <= MOST,
  });
} finally {
  for (const server of servers) server.kill('SIGTERM');
  machine.remove();
  await app.close();
  await postgres.stop();
}

/** Milliseconds of each, measured alternately. */
async function inTurn(
  urls: [string, string],
  work: (url: string, n: number) => Promise<() => Promise<unknown>>,
): Promise<[number[], number[]]> {
  const took: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++)
    for (const side of round % 2 ? ([1, 0] as const) : ([0, 1] as const)) {
      const began = performance.now();
      const tidy = await work(urls[side], round * 2 + side);
      took[side].push(performance.now() - began);
      await tidy();
    }
  return took;
}

/** nginx as gitprotocol-http's example has it, and fcgiwrap with one process for each request at a time. */
async function startBaseline(root: string, port: number): Promise<ChildProcess[]> {
  const socket = join(machine.home, 'fcgi.sock');
  const folder = join(machine.home, 'nginx');
  mkdirSync(folder);
  const configuration = join(folder, 'nginx.conf');
  writeFileSync(
    configuration,
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1; user root;
events {}
http {
  access_log off; client_max_body_size 0; client_body_temp_path ${folder}/body; fastcgi_temp_path ${folder}/fastcgi;
  proxy_temp_path ${folder}/proxy; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port};
    location / {
      fastcgi_pass unix:${socket};
      fastcgi_buffering off; fastcgi_request_buffering off;
      fastcgi_param SCRIPT_FILENAME /usr/lib/git-core/git-http-backend;
      fastcgi_param GIT_PROJECT_ROOT ${root};
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param PATH_INFO $uri;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding;
      fastcgi_param GIT_PROTOCOL $http_git_protocol;
      fastcgi_param REMOTE_USER bench;
      fastcgi_param REMOTE_ADDR $remote_addr;
    }
  }
}
`,
  );
  const started = [
    spawn(FCGIWRAP, ['-s', `unix:${socket}`, '-c', '2'], { stdio: 'ignore' }),
    spawn(NGINX, ['-c', configuration, '-e', join(folder, 'error.log')], { stdio: 'ignore' }),
  ];
  for (const deadline = Date.now() + 10_000; ; ) {
    const { code } = await machine.git(['ls-remote', `http://127.0.0.1:${port}/baseline.git`]);
    if (code === 0) return started;
    if (Date.now() > deadline) throw new Error('the baseline does not answer');
  }
}

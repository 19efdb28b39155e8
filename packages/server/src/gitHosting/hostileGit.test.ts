import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { api } from '@stagi/contract/api.ts';
import { sql } from 'kysely';
import ssh2 from 'ssh2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { newPrivateKey } from './hostKey.ts';
import { parseGitCommand } from './sshCommand.ts';
import { addSshKey, aHostedProject, aMachine, aToken, type HostedProject, type Machine } from './testing/gitClient.ts';
import { endSsh, isAccepted, logIn, runOverSsh } from './testing/sshClient.ts';

const SECRET = 'the-content-that-nobody-else-may-read';

let app: TestApp;
let ada: Person;
let eve: Person;
let machine: Machine;
/** Eve's: her key is her own. */
let elsewhere: Machine;
let project: HostedProject;
let tokens: { ada: string; eve: string };
let privateKey: string;
beforeAll(async () => {
  app = await startTestApp();
  [ada, eve] = [await app.signUp('Ada'), await app.signUp('Eve')];
  [machine, elsewhere] = [aMachine(), aMachine()];
  await addSshKey(ada, await machine.sshKey());
  await addSshKey(eve, await elsewhere.sshKey());
  privateKey = (await elsewhere.run('cat', [join(elsewhere.home, 'id')])).stdout;
  tokens = { ada: await aToken(app, ada), eve: await aToken(app, eve) };
  project = await aHostedProject(app, ada);
  const folder = await machine.repository('mine', project.ssh);
  await machine.commit(folder, 'secret.txt', SECRET);
  await machine.ok(['push', '-q', 'origin', 'main'], { cwd: folder });
});
afterAll(async () => {
  machine?.remove();
  elsewhere?.remove();
  await app?.close();
});

/** How a request ends that is answered as if nothing was there. */
const ABSENT_HTTP = /There is no such project, or you may not use it this way\.\nfatal: repository '.*' not found/;
const ABSENT_SSH =
  /^There is no such project, or you may not use it this way\.\nfatal: Could not read from remote repository\./;

describe('refused alike, without a byte of content:', () => {
  const absent = (url: string): string => url.replace(project.slug, 'no-such-project');
  const CASES: Record<string, () => Promise<{ https: string; ssh: string; from: Machine }>> = {
    'a foreign project': async () => ({ https: project.https(tokens.eve), ssh: project.ssh, from: elsewhere }),
    'an absent project': async () => ({
      https: absent(project.https(tokens.ada)),
      ssh: absent(project.ssh),
      from: machine,
    }),
    'an absent workspace': async () => ({
      https: project.https(tokens.ada).replace(`/git/${ada.workspaceId}/`, '/git/2147483647/'),
      ssh: project.ssh.replace(`/${ada.workspaceId}/`, '/2147483647/'),
      from: machine,
    }),
    'a member without the permission': async () => {
      await join_(eve, 'Billing');
      return { https: project.https(await tokenIn(eve)), ssh: project.ssh, from: elsewhere };
    },
    'a removed member': async () => {
      await join_(eve, 'Developer');
      const token = await tokenIn(eve);
      expect((await elsewhere.git(['ls-remote', project.https(token)])).code).toBe(0);
      expect((await elsewhere.git(['ls-remote', project.ssh])).code).toBe(0);
      await ada.client(api.clients.removeMember, { userId: eve.userId });
      return { https: project.https(tokens.eve), ssh: project.ssh, from: elsewhere };
    },
    'a deleted project': async () => {
      const gone = await aHostedProject(app, ada);
      await sql`update project set status = 'deleting', desired = 'gone' where id = ${gone.id}`.execute(app.ctx.db);
      return { https: gone.https(tokens.ada), ssh: gone.ssh, from: machine };
    },
    'a token without the permission': async () => ({
      https: project.https(await aToken(app, ada, { permissions: ['BILLING'] })),
      ssh: absent(project.ssh),
      from: machine,
    }),
  };
  it.each(Object.entries(CASES))('%s', async (_what, prepare) => {
    const { https, ssh, from } = await prepare();
    const folder = await from.repository(`try-${randomBytes(4).toString('hex')}`, https);
    for (const [url, refusal] of [
      [https, ABSENT_HTTP],
      [ssh, ABSENT_SSH],
    ] as const) {
      for (const args of [
        ['ls-remote', url],
        ['fetch', url],
        ['push', url, 'HEAD:refs/heads/evil'],
      ]) {
        const { code, stdout, stderr } = await from.git(args, { cwd: folder });
        expect(code).toBe(128);
        expect(stdout).toBe('');
        expect(stderr).toMatch(refusal);
      }
    }
    expect(await machine.ok(['--git-dir', project.dir, 'for-each-ref', '--format=%(refname)'])).toBe(
      'refs/heads/main\n',
    );
  });

  it('nobody at all', async () => {
    for (const url of [
      project.https('wrong'),
      `${app.url}/git/${ada.workspaceId}/${project.slug}.git`,
      project.https(''),
    ]) {
      const { code, stdout } = await machine.git(['ls-remote', url]);
      expect([code, stdout]).toEqual([128, '']);
    }
    const stranger = aMachine();
    await stranger.sshKey();
    const { code, stderr } = await stranger.git(['ls-remote', project.ssh]);
    stranger.remove();
    expect(code).toBe(128);
    expect(stderr).toContain('Permission denied (publickey)');
  });
});

it('tells readers who may not push that they may not, and lets one key of several people find the one who may', async () => {
  const token = await aToken(app, ada, { permissions: ['PROJECT'] });
  const folder = await machine.repository('reader', project.https(token));
  await machine.ok(['fetch', '-q', 'origin'], { cwd: folder });
  const { stderr } = await machine.git(['push', 'origin', 'HEAD:refs/heads/evil'], { cwd: folder });
  expect(stderr).toMatch(/You may read this project, but not push to it/);
  // Eve's key also stands with a colleague of Ada's.
  const bob = await app.signUp('Bob');
  await join_(bob, 'Developer');
  const { entities } = await eve.client(api.sshKeys.list, {});
  await addSshKey(bob, entities[0]!.publicKey);
  expect((await elsewhere.git(['ls-remote', project.ssh])).code).toBe(0);
  await sql`update app_user set disabled_at = now() where id = ${bob.userId}`.execute(app.ctx.db);
  expect((await elsewhere.git(['ls-remote', project.ssh])).code).toBe(128);
});

async function join_(person: Person, role: string): Promise<void> {
  await sql`insert into membership (workspace_id, user_id, role) values (${ada.workspaceId}, ${person.userId}, ${role})
    on conflict (workspace_id, user_id) do update set role = excluded.role`.execute(app.ctx.db);
}

async function tokenIn(person: Person): Promise<string> {
  const own = person.workspaceId;
  person.useWorkspace(ada.workspaceId);
  const token = await aToken(app, person);
  person.useWorkspace(own);
  return token;
}

describe('hostile requests', () => {
  it('over HTTP: none is accepted', async () => {
    const base = `/git/${ada.workspaceId}/${project.slug}.git`;
    const foreign = `/git/${eve.workspaceId}/${project.slug}.git`;
    const own = await aHostedProject(app, eve);
    const ownBase = `/git/${eve.workspaceId}/${own.slug}.git`;
    const up = 'info/refs?service=git-upload-pack';
    const paths: [string, string, Record<string, string>?, (string | Buffer)?][] = [
      ['GET', `${base}/${up}`],
      ['GET', `${base}/info/refs?service=git-receive-pack`],
      ['GET', `${foreign}/${up}`],
      ['GET', `${ownBase}/../${project.slug}.git/${up}`],
      ['GET', `${ownBase}/..%2f..%2f${ada.workspaceId}%2f${project.slug}.git/${up}`],
      ['GET', `${ownBase}/%2e%2e/%2e%2e/${ada.workspaceId}/${project.slug}.git/${up}`],
      ['GET', `/git/${eve.workspaceId}/../${ada.workspaceId}/${project.slug}.git/${up}`],
      ['GET', `/git/${eve.workspaceId}%2f..%2f${ada.workspaceId}/${project.slug}.git/${up}`],
      ['GET', `//git/${ada.workspaceId}/${project.slug}.git/${up}`],
      ['GET', `/git//${ada.workspaceId}/${project.slug}.git/${up}`],
      ['GET', `/git/0${ada.workspaceId}/${project.slug}.git/${up}`],
      ['GET', `/git/+${ada.workspaceId}/${project.slug}.git/${up}`],
      ['GET', `/git/-1/${project.slug}.git/${up}`],
      ['GET', `/git/1e0/${project.slug}.git/${up}`],
      ['GET', `/git/99999999999999999999/${project.slug}.git/${up}`],
      ['GET', `/git/${eve.workspaceId}/${own.slug.toUpperCase()}.git/${up}`],
      ['GET', `/git/${eve.workspaceId}/${own.slug}/${up}`],
      ['GET', `/git/${eve.workspaceId}/${own.slug}.git.git/${up}`],
      ['GET', `/git/${eve.workspaceId}/${own.slug}%00.git/${up}`],
      ['GET', `/git/${eve.workspaceId}/${own.slug}%0a.git/${up}`],
      ['GET', `/git/${eve.workspaceId}/'.git/${up}`],
      ['GET', `/git/${eve.workspaceId}/--upload-pack=id.git/${up}`],
      ['GET', `/git/${eve.workspaceId}/-oProxyCommand=id.git/${up}`],
      ['GET', `/git/${eve.workspaceId}/${'a'.repeat(41)}.git/${up}`],
      ['GET', `${ownBase}/info/refs`],
      ['GET', `${ownBase}/info/refs?service=git-upload-archive`],
      ['GET', `${ownBase}/info/refs?service=git-shell`],
      ['GET', `${ownBase}/info/refs?service=git-upload-pack&x=1`],
      ['GET', `${ownBase}/info/refs?service=git-upload-pack%20--help`],
      ['GET', `${ownBase}/info/refs?service=upload-pack`],
      ['GET', `${ownBase}/HEAD`],
      ['GET', `${ownBase}/config`],
      ['GET', `${ownBase}/objects/info/packs`],
      ['GET', `${ownBase}/hooks/pre-receive`],
      ['GET', `${ownBase}/../../git-ssh-host-key`],
      ['PUT', `${ownBase}/config`, {}, '[core]'],
      ['DELETE', `${ownBase}/HEAD`],
      ['PROPFIND', `${ownBase}/`],
      ['POST', `${ownBase}/info/refs?service=git-upload-pack`, {}, ''],
      ['GET', `${ownBase}/git-upload-pack`],
      ['POST', `${ownBase}/git-upload-pack`, { 'content-type': 'text/plain' }, '0000'],
      ['POST', `${ownBase}/git-upload-pack`, { 'content-type': 'application/x-git-receive-pack-request' }, '0000'],
      ['POST', `${ownBase}/git-upload-archive`, { 'content-type': 'application/x-git-upload-archive-request' }, '0000'],
      ['POST', `${ownBase}/git-upload-pack`, { ...UPLOAD, 'content-encoding': 'br' }, '0000'],
      ['POST', `${ownBase}/git-upload-pack`, { ...UPLOAD, 'content-encoding': 'gzip' }, 'no gzip'],
      // 64 MiB unpacked, and more.
      [
        'POST',
        `${ownBase}/git-upload-pack`,
        { ...UPLOAD, 'content-encoding': 'gzip' },
        gzipSync(Buffer.alloc(80_000_000)),
      ],
    ];
    let refused = 0;
    for (const [method, path, headers = {}, body] of paths) {
      const answer = await rawRequest(method, path, { authorization: basic(tokens.eve), ...headers }, body);
      expect([method, path, answer.status >= 400]).toEqual([method, path, true]);
      expect(answer.body).not.toContain('refs/heads');
      expect(answer.body).not.toContain('service=');
      refused += 1;
    }
    // A session is no password of git, and neither is a password of another shape.
    for (const authorization of [
      undefined,
      `Bearer ${ada.tokens().accessToken}`,
      `Bearer ${tokens.ada}`,
      basic(ada.tokens().accessToken),
      basic(`${tokens.ada}x`),
      `Basic ${Buffer.from(tokens.ada).toString('base64')}`,
      'Basic !!!',
      `Digest ${tokens.ada}`,
    ]) {
      const answer = await rawRequest('GET', `${base}/${up}`, authorization === undefined ? {} : { authorization });
      expect([authorization, answer.status]).toEqual([authorization, 401]);
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
      expect(answer.body).not.toContain('refs/heads');
      refused += 1;
    }
    console.log(`hostile git over HTTP: n = ${refused}, 0 accepted`);
  });

  it('over SSH: no command but the two of git on a project of one’s own', async () => {
    const own = await aHostedProject(app, eve);
    const path = `/${eve.workspaceId}/${own.slug}.git`;
    const commands = [
      '',
      'id',
      'sh',
      'sh -c id',
      'bash -i',
      'scp -f /etc/passwd',
      'sftp-server',
      'git',
      'git-shell',
      'git daemon',
      `git-upload-archive '${path}'`,
      `git upload-archive '${path}'`,
      'git-upload-pack',
      'git-upload-pack ',
      `git-upload-pack '${path}' x`,
      `git-upload-pack --strict '${path}'`,
      `git-upload-pack --upload-pack=id '${path}'`,
      `git-upload-pack -oProxyCommand=id '${path}'`,
      `git-upload-pack '${path}'; id`,
      `git-upload-pack '${path}' && id`,
      `git-upload-pack '${path}'|id`,
      `git-upload-pack '${path}'\nid`,
      `git-upload-pack '$(id)'`,
      'git-upload-pack `id`',
      `git-upload-pack '${path}''`,
      `git-upload-pack "${path}"`,
      `git-upload-pack '${path}`,
      `git-upload-pack ${path}'`,
      `git-upload-pack '${path}\\''`,
      `git-upload-pack '${path}\0'`,
      `git-receive-pack '/etc'`,
      `git-upload-pack '/${eve.workspaceId}/../${ada.workspaceId}/${project.slug}.git'`,
      `git-upload-pack '/../..${path}'`,
      `git-upload-pack '${project.dir}'`,
      `git-upload-pack '~/${own.slug}.git'`,
      `git-upload-pack 'ssh://x${path}'`,
      `git-upload-pack '/${eve.workspaceId}/${own.slug}.git/../x.git'`,
      `git-upload-pack '/0${eve.workspaceId}/${own.slug}.git'`,
      `git-upload-pack '/99999999999/${own.slug}.git'`,
      `git-upload-pack '/${eve.workspaceId}/${own.slug.toUpperCase()}.git'`,
      `GIT_DIR=/ git-upload-pack '${path}'`,
      `git -c core.sshCommand=id upload-pack '${path}'`,
      `git-upload-pack  '${path}'`,
      `${'a'.repeat(10_000)}`,
    ];
    const client = await logIn(app.ctx.config.gitSshPort, privateKey);
    const accepted: string[] = [];
    for (const command of commands) if (await isAccepted(client, command)) accepted.push(command);
    expect(accepted).toEqual([]);
    for (const command of commands) expect(parseGitCommand(command)).toBeNull();

    // Foreign and absent projects: the command runs, and ends with the same words.
    for (const other of [
      `/${ada.workspaceId}/${project.slug}.git`,
      '/2147483647/absent.git',
      `/${eve.workspaceId}/absent.git`,
    ]) {
      const ran = await runOverSsh(client, `git-upload-pack '${other}'`);
      expect(ran).toEqual({
        code: 128,
        stdout: '',
        stderr: 'There is no such project, or you may not use it this way.\n',
      });
    }
    await endSsh(client);
    type Told = (error: Error | null | undefined) => void;
    const requests: ((of: ssh2.Client, told: Told) => void)[] = [
      (of, told) => of.shell({ term: 'xterm' }, told),
      (of, told) => of.subsys('sftp', told),
      (of, told) => of.sftp(told),
      (of, told) => of.forwardIn('127.0.0.1', 0, told),
      (of, told) => of.forwardOut('127.0.0.1', 1, '127.0.0.1', app.ctx.config.port, told),
      (of, told) => of.openssh_forwardInStreamLocal('/tmp/x', told),
      (of, told) => of.openssh_forwardOutStreamLocal('/var/run/docker.sock', told),
      (of, told) => of.exec(`git-upload-pack '${path}'`, { pty: true }, told),
      (of, told) => of.exec(`git-upload-pack '${path}'`, { x11: true }, told),
    ];
    for (const request of requests) {
      const other = await logIn(app.ctx.config.gitSshPort, privateKey);
      const error = await new Promise<Error | null | undefined>((resolve) => request(other, resolve));
      expect([String(request), error instanceof Error]).toEqual([String(request), true]);
      await endSsh(other);
    }
    console.log(`hostile git over SSH: n = ${commands.length + 3 + requests.length}, 0 accepted`);
  });

  it('over SSH: no variable but GIT_PROTOCOL reaches git', async () => {
    const marker = join(elsewhere.home, 'marker');
    const { code, stderr } = await elsewhere.git(['ls-remote', project.ssh], {
      env: {
        GIT_SSH_COMMAND: `${sshOf(elsewhere)} -o SetEnv="GIT_TRACE=${marker} GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/tmp LD_PRELOAD=/x.so PATH=/x"`,
      },
    });
    expect([code, /no such project/.test(stderr)]).toEqual([128, true]);
    expect(existsSync(marker)).toBe(false);
  });

  it('with other ways to log in: refused', async () => {
    const { gitSshPort } = app.ctx.config;
    for (const [what, options] of [
      ['no method', {}],
      ['a password', { password: tokens.ada }],
      ['keyboard-interactive', { tryKeyboard: true }],
      ['an unknown key', { privateKey: newPrivateKey() }],
    ] as const) {
      const client = new ssh2.Client();
      client.connect({ host: '127.0.0.1', port: gitSshPort, username: 'git', ...options });
      const errors: string[] = [];
      // The platform may reset what it has refused.
      client.on('error', ({ message }) => errors.push(message));
      await new Promise<void>((closed) => client.once('close', () => closed()));
      expect([what, errors[0]]).toEqual([what, 'All configured authentication methods failed']);
    }
  });
});

const UPLOAD = { 'content-type': 'application/x-git-upload-pack-request' };
const basic = (password: string): string => `Basic ${Buffer.from(`git:${password}`).toString('base64')}`;
const sshOf = ({ home }: Machine): string =>
  `ssh -F /dev/null -o BatchMode=yes -o StrictHostKeyChecking=no -o IdentitiesOnly=yes -o LogLevel=ERROR -o UserKnownHostsFile=${home}/known_hosts -i ${home}/id`;

interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends the path as it is: `fetch` would resolve it. */
function rawRequest(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(app.url);
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

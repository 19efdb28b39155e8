import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import ssh2, {
  type AuthContext,
  type Connection,
  type PublicKeyAuthContext,
  type ServerChannel,
  type Session,
} from 'ssh2';
import { networkOf } from '../attempts/addressRateLimit.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import type { Hosting } from './hosting.ts';
import { loadHostKey } from './hostKey.ts';
import { refusalOf } from './refusal.ts';
import { runTransfer } from './runTransfer.ts';
import { authorizeGit, type GitRequest, mayGoOn, serveGit } from './serve.ts';
import { holdersOf, isSignedBy } from './sshAuthentication.ts';
import { type GitCommand, parseGitCommand } from './sshCommand.ts';

/** Several commands may share a connection, as with OpenSSH's ControlMaster. */
const MAX_SESSIONS = 8;
const MAX_REFUSED = 100;
/** Failed logins per address: each key that is offered and unknown counts. */
const failures = createRateLimiter({ points: 300, duration: 60 });
/** The exit code of git itself when it cannot do what it is asked. */
const FAILED = 128;

export interface SshServer {
  listen(host: string, port: number): Promise<void>;
  close(): Promise<void>;
}

/** Git over SSH (RFC 4254 6.5): public keys of users, two commands, and nothing else that SSH can do. */
export async function serveGitSsh(hosting: Hosting): Promise<SshServer> {
  const { ctx, limits } = hosting;
  const perAddress = new Map<string, number>();
  const open = new Map<string, GitConnection>();
  const ssh = new ssh2.Server(
    { hostKeys: [await loadHostKey(ctx.config)], ident: 'stagi', keepaliveInterval: 15_000, keepaliveCountMax: 3 },
    (connection, { ip, port }) => {
      const known = open.get(`${ip} ${port}`);
      if (known) serveConnection(hosting, connection, known);
      else connection.end();
    },
  );
  // The sockets are ours, so that one can be reset, and so that a client that never says anything is counted too.
  const server = createServer({ noDelay: true }, (socket) => {
    const { remoteAddress: ip = '', remotePort: port } = socket;
    const network = networkOf(ip);
    const count = (perAddress.get(network) ?? 0) + 1;
    if (open.size >= limits.maxConnections || count > limits.maxConnectionsPerAddress) return void socket.destroy();
    perAddress.set(network, count);
    const closed = new AbortController();
    const timer = setTimeout(() => socket.destroy(), limits.loginMs);
    const known: GitConnection = { socket, network, closed: closed.signal, timer, sessions: 0, refused: 0 };
    open.set(`${ip} ${port}`, known);
    socket.once('close', () => {
      clearTimeout(known.timer);
      open.delete(`${ip} ${port}`);
      const left = (perAddress.get(network) ?? 1) - 1;
      if (left > 0) perAddress.set(network, left);
      else perAddress.delete(network);
      closed.abort();
    });
    ssh.injectSocket(socket);
  });
  return {
    async listen(host, port) {
      server.listen(port, host);
      await once(server, 'listening');
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const { socket, sessions } of open.values()) if (sessions === 0) socket.destroy();
      // Transfers in progress end first.
      await hosting.stop();
      for (const { socket } of open.values()) socket.destroy();
      await closed;
    },
  };
}

interface GitConnection {
  socket: Socket;
  network: string;
  closed: AbortSignal;
  /** Ends a connection that does nothing. */
  timer: NodeJS.Timeout;
  sessions: number;
  /** Commands so far that are none of git's. */
  refused: number;
}

type Key = PublicKeyAuthContext['key'];

function serveConnection(hosting: Hosting, connection: Connection, known: GitConnection): void {
  const { ctx, limits } = hosting;
  let tries = 0;
  let key: Key | null = null;
  const waitForCommand = (): void => {
    clearTimeout(known.timer);
    if (known.sessions === 0) known.timer = setTimeout(() => known.socket.destroy(), limits.idleMs);
  };
  // Broken off, or not speaking the protocol: nothing that the platform can mend.
  connection.on('error', (error: unknown) => ctx.log.debug({ err: error }, 'a git connection broke off'));
  connection.on('authentication', (attempt) => {
    authenticate(attempt).catch((error: unknown) => {
      ctx.log.warn({ err: error }, 'a login by SSH could not be checked');
      known.socket.destroy();
    });
  });
  connection.on('ready', waitForCommand);
  // No listener for `request`, `tcpip` and `openssh.streamlocal`: forwarding is refused.
  connection.on('session', (accept, reject) => {
    if (known.sessions >= MAX_SESSIONS || !key) return void reject();
    known.sessions += 1;
    clearTimeout(known.timer);
    serveSession(hosting, accept(), known, key).finally(() => {
      known.sessions -= 1;
      if (!known.closed.aborted) waitForCommand();
    });
  });

  async function authenticate(attempt: AuthContext): Promise<void> {
    tries += 1;
    if (tries > limits.maxTries) return void connection.end();
    if (attempt.method !== 'publickey') return attempt.reject(['publickey']);
    const holders = await holdersOf(ctx, attempt.key);
    if (holders.length > 0 && (!attempt.signature || isSignedBy(attempt))) {
      if (attempt.signature) key = attempt.key;
      return attempt.accept();
    }
    await consumePoint(failures(ctx), known.network);
    attempt.reject(['publickey']);
  }
}

/**
 * Resolves at the end of its one command. No listener for `pty`, `shell`, `subsystem`, `x11` and `auth-agent`: ssh2
 * refuses them.
 */
function serveSession(hosting: Hosting, session: Session, known: GitConnection, key: Key): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let protocol: string | undefined;
  // A session whose command never comes.
  const timer = setTimeout(() => known.socket.destroy(), hosting.limits.loginMs);
  session.on('env', (accept, reject, { key: name, val }) => {
    if (name !== 'GIT_PROTOCOL') return void reject?.();
    protocol = val;
    accept?.();
  });
  session.on('exec', (accept, reject, { command }) => {
    const asked = parseGitCommand(command);
    if (!asked) {
      reject?.();
      known.refused += 1;
      if (known.refused >= MAX_REFUSED) known.socket.destroy();
      return end();
    }
    clearTimeout(timer);
    void serveCommand(hosting, accept(), known, { asked, key, protocol }).finally(resolve);
  });
  const end = (): void => {
    clearTimeout(timer);
    resolve();
  };
  session.once('close', end);
  known.closed.addEventListener('abort', end, { once: true });
  return promise;
}

async function serveCommand(
  hosting: Hosting,
  channel: ServerChannel,
  { socket, closed }: GitConnection,
  { asked, key, protocol }: { asked: GitCommand; key: Key; protocol: string | undefined },
): Promise<void> {
  const { ctx } = hosting;
  const request: GitRequest = {
    ...asked,
    who: async () => ({ kind: 'people', userIds: await holdersOf(ctx, key) }),
    via: 'ssh',
  };
  const left = new AbortController();
  const leave = (): void => left.abort();
  channel.once('close', leave);
  closed.addEventListener('abort', leave, { once: true });
  const cut = (): void => {
    leave();
    // Not `destroy`: the system would still deliver what it holds in the buffer of the socket.
    socket.resetAndDestroy();
  };
  let end = (): void => {};
  try {
    const project = await authorizeGit(ctx, request);
    end = hosting.transfers.begin({
      workspaceId: project.workspaceId,
      key: `${key.data.toString('base64')} ${project.id}`,
      isAllowed: () => mayGoOn(ctx, request, project.id),
      cut,
    });
    const code = await runTransfer(serveGit(hosting, request, project, { options: [], protocol }), {
      input: channel.iterator({ destroyOnReturn: false }),
      readsToTheEnd: false,
      output: channel,
      begin: () => {},
      cut,
      idleMs: hosting.limits.idleMs,
      left: left.signal,
      log: ctx.log,
    });
    // Killed: the client must not take what it has for a whole answer.
    if (code === null) return cut();
    channel.exit(code);
    channel.end();
  } catch (error) {
    if (!left.signal.aborted) refuse(hosting, channel, error);
  } finally {
    end();
    closed.removeEventListener('abort', leave);
  }
}

function refuse({ ctx }: Hosting, channel: ServerChannel, error: unknown): void {
  const { status, message } = refusalOf(error);
  if (status === 500) ctx.log.error({ err: error }, 'a git command failed');
  channel.stderr.write(`${message}\n`);
  channel.exit(FAILED);
  channel.end();
}

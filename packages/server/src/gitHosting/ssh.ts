import { createServer, type Socket } from 'node:net';
import ssh2, {
  type AuthContext,
  type Connection,
  type PublicKeyAuthContext,
  type ServerChannel,
  type Session,
} from 'ssh2';
import { PublicError } from '../http/errors.ts';
import { listenAt, type StopAccepting } from '../http/listenAt.ts';
import { networkOf } from '../http/network.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import { logRefusal } from '../http/refusalLog.ts';
import type { Release } from '../slots/fairSlots.ts';
import { asPerson, asStranger, type Holder } from '../slots/holder.ts';
import { leastRate, type Watched } from '../slots/leastRate.ts';
import { startInTurn } from '../slots/startInTurn.ts';
import { createTurnstile } from '../slots/turnstile.ts';
import type { Hosting } from './hosting.ts';
import { loadHostKey } from './hostKey.ts';
import { refusalOf } from './refusal.ts';
import { runTransfer } from './runTransfer.ts';
import { authorizeGit, type GitRequest, mayGoOn, type Served, serveGit } from './serve.ts';
import { answerToLfs, endWith, greetingFor } from './sshAnswers.ts';
import { holdersOf, isSignedBy } from './sshAuthentication.ts';
import { type GitCommand, parseGitCommand } from './sshCommand.ts';

/** Several commands may share a connection, as with OpenSSH's ControlMaster. */
const MAX_SESSIONS = 8;
const MAX_REFUSED = 100;
/** A connection has a quarter of a second at least to log in, however many come from its address: 50 are kept of it. */
const CONNECTIONS_OF_ADDRESS = { perSecond: 100, atOnce: 25, longestWaitMs: 5_000 };
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
  const open = new Map<string, GitConnection>();
  const ssh = new ssh2.Server(
    { hostKeys: [await loadHostKey(ctx.config)], ident: 'stagi', keepaliveInterval: 15_000, keepaliveCountMax: 3 },
    (connection, { ip, port }) => {
      const known = open.get(`${ip} ${port}`);
      if (known) serveConnection(hosting, connection, known);
      else connection.end();
    },
  );
  const inTurn = createTurnstile(CONNECTIONS_OF_ADDRESS);
  const waiting = new Set<Socket>();
  // The sockets are ours, so that one can be reset, and so that a client that never says anything is counted too.
  const server = createServer({ noDelay: true }, (socket) => {
    // Until its turn nothing of it is read.
    socket.on('error', () => socket.destroy());
    waiting.add(socket);
    inTurn(networkOf(socket.remoteAddress ?? ''))
      .then(
        () => serveSocket(socket),
        () => socket.destroy(),
      )
      .finally(() => waiting.delete(socket));
  });

  function serveSocket(socket: Socket): void {
    const { remoteAddress: ip = '', remotePort: port } = socket;
    if (socket.destroyed) return;
    const release = takeSlot(() => ctx.slots.sshConnections.enter(asStranger(ip), () => socket.resetAndDestroy()));
    if (!release) return void socket.destroy();
    const closed = new AbortController();
    const timer = setTimeout(() => socket.destroy(), limits.loginMs);
    const known: GitConnection = { socket, ip, closed: closed.signal, timer, release, sessions: 0, refused: 0 };
    open.set(`${ip} ${port}`, known);
    socket.once('close', () => {
      clearTimeout(known.timer);
      open.delete(`${ip} ${port}`);
      known.release();
      closed.abort();
    });
    ssh.injectSocket(socket);
  }

  let stopAccepting: StopAccepting = async () => {};
  return {
    async listen(host, port) {
      stopAccepting = await listenAt(server, host, port);
    },
    async close() {
      const closed = Promise.all([stopAccepting(), new Promise((resolve) => server.close(resolve))]);
      for (const socket of waiting) socket.destroy();
      for (const { socket, sessions } of open.values()) if (sessions === 0) socket.destroy();
      // Transfers in progress end first.
      await hosting.stop();
      for (const { socket } of open.values()) socket.destroy();
      await closed;
    },
  };
}

/** Null: there is none. */
function takeSlot(enter: () => Release): Release | null {
  try {
    return enter();
  } catch (error) {
    if (error instanceof PublicError) return null;
    throw error;
  }
}

interface GitConnection {
  socket: Socket;
  ip: string;
  closed: AbortSignal;
  /** Ends a connection that does nothing. */
  timer: NodeJS.Timeout;
  /** Gives its slot back. */
  release: Release;
  sessions: number;
  /** Commands so far that are none of git's. */
  refused: number;
}

type Key = PublicKeyAuthContext['key'];

function serveConnection(hosting: Hosting, connection: Connection, known: GitConnection): void {
  const { ctx, limits } = hosting;
  let tries = 0;
  let key: Key | null = null;
  let holder: Holder | null = null;
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
  connection.on('ready', () => {
    // It was closed while its key was looked up: nobody would give a slot back.
    if (known.closed.aborted) return;
    // From here on it does not count among those of its address.
    known.release();
    const release = holder && takeSlot(() => ctx.slots.sshConnections.enter(holder!));
    if (!release) return void connection.end();
    known.release = release;
    waitForCommand();
  });
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
      if (attempt.signature) {
        key = attempt.key;
        holder = asPerson(holders[0]!, null);
      }
      return attempt.accept();
    }
    logRefusal(ctx.log, { at: 'git over SSH', ip: known.ip, reason: 'this key belongs to nobody' });
    await consumePoint(failures(ctx), networkOf(known.ip));
    attempt.reject(['publickey']);
  }
}

/**
 * Resolves at the end of its one command. A shell is a greeting. No listener for `pty`, `subsystem`, `x11` and
 * `auth-agent`: ssh2 refuses them.
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
  const count = (): void => {
    known.refused += 1;
    if (known.refused >= MAX_REFUSED) known.socket.destroy();
    end();
  };
  session.on('shell', (accept) => {
    const channel = accept();
    greetingFor(hosting.ctx, key)
      .then(
        (greeting) => endWith(channel, greeting),
        (error: unknown) => refuse(hosting, channel, error),
      )
      .finally(count);
  });
  session.on('exec', (accept, reject, { command }) => {
    const asked = parseGitCommand(command);
    if (!asked) {
      const answer = answerToLfs(command);
      if (answer === null) reject?.();
      else endWith(accept(), answer);
      return count();
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
  const ends: (() => void)[] = [];
  try {
    const project = await authorizeGit(ctx, request);
    const holder = asPerson(project.userId, project.workspaceId);
    ends.push(ctx.slots.gitTransfers.enter(holder));
    const forget = hosting.transfers.begin({
      key: `${key.data.toString('base64')} ${project.id}`,
      isAllowed: () => mayGoOn(ctx, request, project.id),
      cut,
    });
    const input = countBytes(channel.iterator({ destroyOnReturn: false }));
    ends.push(forget, leastRate.watch(watchedChannel(channel, input, { socket, cut })));
    const start = (): Served => serveGit(hosting, request, project, { options: [], protocol });
    const code = await runTransfer(await startInTurn(ctx.slots.gitStarts, holder, start, left.signal), {
      input: input.chunks,
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
    for (const end of ends) end();
    closed.removeEventListener('abort', leave);
  }
}

interface Counted {
  chunks: AsyncIterable<Buffer>;
  bytes: number;
}

function countBytes(chunks: AsyncIterable<Buffer>): Counted {
  const counted: Counted = { chunks: count(), bytes: 0 };
  async function* count(): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      counted.bytes += chunk.length;
      yield chunk;
    }
  }
  return counted;
}

/**
 * While git computes, the client rightly sends nothing, and nothing says that it is git's turn: so the platform is taken
 * to wait for a client that has sent some of its input since the last look, and for one that does not read.
 */
function watchedChannel(
  channel: ServerChannel,
  input: Counted,
  { socket, cut }: Pick<GitConnection, 'socket'> & { cut(): void },
): Watched {
  let seen = 0;
  return {
    bytes: () => input.bytes + socket.bytesWritten,
    isWaitingForClient() {
      const hasSent = input.bytes !== seen;
      seen = input.bytes;
      return hasSent || channel.writableNeedDrain;
    },
    cut,
  };
}

function refuse({ ctx }: Hosting, channel: ServerChannel, error: unknown): void {
  const { status, message } = refusalOf(error);
  if (status === 500) ctx.log.error({ err: error }, 'a git command failed');
  channel.stderr.write(`${message}\n`);
  channel.exit(FAILED);
  channel.end();
}

import { type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  DaemonMessage,
  ENROL_AUDIENCE,
  EnrolRequest,
  type Inventory,
  LINK_AUDIENCE,
  MAX_FRAME_BYTES,
  type PlatformMessage,
  PULL_AUTH_FEATURE,
  type RegistryAuth,
} from '@stagi/contract/daemon.ts';
import {
  COMMAND_AUDIENCE,
  type Command,
  type DesiredContainer,
  type DesiredState,
} from '@stagi/contract/desiredState.ts';
import { decodeFrame } from '@stagi/contract/frames.ts';
import { freePort } from '@stagi/contract/testing/freePort.ts';
import { exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from 'jose';
import { type WebSocket, WebSocketServer } from 'ws';
import { type LogStore, openLogStore } from './logStore.ts';
import { openTaskStore, type TaskStore } from './taskStore.ts';

/** A minimal platform for tests of the daemon: the other end of the link, as the contract describes it. */
export interface FakePlatform {
  origin: string;
  node: string;
  /** All messages of the daemons, in order. */
  received: DaemonMessage[];
  logs: LogStore;
  tasks: TaskStore;
  /** The last inventory, also from a hello; null before the first. */
  inventory(): Inventory | null;
  /** How many links have been welcomed. */
  linkCount(): number;
  connected(): boolean;
  token(claims?: Record<string, unknown>): Promise<string>;
  /** Sends this desired state under the next generation; returns the generation. */
  setDesired(containers: DesiredContainer[], more?: Partial<DesiredState>): Promise<number>;
  sign(typ: string, claims: object): Promise<string>;
  command(what: Command['do'], id?: string): Promise<string>;
  send(message: PlatformMessage): void;
  /** What is answered to the question for the credential of a registry, by container; null at first. */
  credentials: Map<number, RegistryAuth>;
  /** The raw socket of the current link. */
  socket(): WebSocket;
  /** Stops reading from the sockets of links, or with `false` reads again: the daemon must feel backpressure. */
  stopReading(stopped?: boolean): void;
  /** Resolves when `check` returns something; checked again after each message. */
  until<T>(what: string, check: () => T | false | null | undefined, ms?: number): Promise<T>;
  /** Closes the current link and accepts no new one until `open`. */
  close(): Promise<void>;
  open(): Promise<void>;
}

export async function startFakePlatform({
  node = '7',
  kind = 'self-hosted' as 'self-hosted' | 'rented',
  sampleSeconds = undefined as number | undefined,
} = {}): Promise<FakePlatform> {
  const keys = await generateKeyPair('EdDSA', { extractable: true });
  const commandKey = await exportJWK(keys.publicKey);
  const used = new Map<string, string>();
  const waiters = new Set<() => void>();
  const heard: DaemonMessage[] = [];
  const state = {
    nodeKey: null as KeyObject | CryptoKey | Uint8Array | null,
    links: 0,
    gen: 0,
    document: null as string | null,
    readingStopped: false,
  };
  const credentials = new Map<number, RegistryAuth>();
  let live: WebSocket | null = null;
  const port = await freePort();
  let server: Server;
  const logs = openLogStore((message) => live?.send(JSON.stringify(message)));

  const tasks = openTaskStore(() => `http://127.0.0.1:${port}`);

  const sign = (typ: string, claims: object) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: 'EdDSA', typ }).sign(keys.privateKey);
  const now = () => Math.floor(Date.now() / 1000);
  const notice = () => {
    for (const look of waiters) look();
  };

  async function enrol(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { token, publicKey, proof } = EnrolRequest.parse(JSON.parse(Buffer.concat(chunks).toString()));
    const { payload } = await jwtVerify(token, keys.publicKey, { audience: ENROL_AUDIENCE, typ: 'enrol+jwt' });
    const key = await importJWK(publicKey, 'EdDSA');
    const proven = await jwtVerify(proof, key, { audience: ENROL_AUDIENCE });
    if (proven.payload.jti !== payload.jti) throw new Error('proof over another token');
    const fresh = !used.has(payload.jti!);
    if (fresh) used.set(payload.jti!, publicKey.x);
    if (fresh) state.nodeKey = key;
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(
        fresh || used.get(payload.jti!) === publicKey.x
          ? { isSuccess: true, node }
          : { isSuccess: false, message: 'This enrolment file has been used already' },
      ),
    );
  }

  function serve(socket: WebSocket): void {
    const nonce = randomUUID();
    socket.send(JSON.stringify({ type: 'challenge', nonce } satisfies PlatformMessage));
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      // Frames of an older link are dropped (fencing).
      if (isBinary && socket === live) logs.frame(decodeFrame(data));
      if (!isBinary)
        void take(socket, nonce, DaemonMessage.parse(JSON.parse(data.toString()))).catch((error: unknown) =>
          socket.close(4000, String(error).slice(0, 100)),
        );
      notice();
      if (state.readingStopped && isBinary) socket.pause();
    });
    socket.on('close', () => {
      if (live === socket) live = null;
      notice();
    });
  }

  async function take(socket: WebSocket, nonce: string, message: DaemonMessage): Promise<void> {
    heard.push(message);
    if (message.type === 'auth') {
      if (!state.nodeKey) throw new Error('no such node');
      const { payload } = await jwtVerify(message.proof, state.nodeKey, { audience: LINK_AUDIENCE, subject: node });
      if (payload.nonce !== nonce || !payload.exp) throw new Error('wrong nonce');
      live?.terminate();
      live = socket;
      state.links++;
      logs.newLink(state.links);
      socket.send(
        JSON.stringify({
          type: 'welcome',
          epoch: state.links,
          serverTime: new Date().toISOString(),
          heartbeatSeconds: 1,
          sampleSeconds,
          rotateKey: false,
          features: [PULL_AUTH_FEATURE],
        } satisfies PlatformMessage),
      );
    } else if (message.type === 'hello') {
      if (state.document && message.inventory.appliedGen < state.gen)
        send({ type: 'desired', document: state.document });
    } else if (message.type === 'pull-auth') {
      const { containerId, gen } = message;
      send({ type: 'pull-auth', epoch: state.links, containerId, gen, auth: credentials.get(containerId) ?? null });
    } else if (socket === live) {
      logs.control(message);
    }
    notice();
  }

  function send(message: PlatformMessage): void {
    live?.send(JSON.stringify(message));
  }

  async function open(): Promise<void> {
    server = createServer((request, response) => {
      if (tasks.handle(request, response)) return;
      enrol(request, response).catch((error: unknown) => {
        response.statusCode = 400;
        response.end(JSON.stringify({ isSuccess: false, message: String(error) }));
      });
    });
    const sockets = new WebSocketServer({
      server,
      path: '/daemon-api/link',
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
    });
    sockets.on('connection', serve);
    const listening = Promise.withResolvers<void>();
    server.listen(port, '127.0.0.1', listening.resolve);
    await listening.promise;
  }

  await open();
  return {
    get origin() {
      return `http://127.0.0.1:${port}`;
    },
    node,
    received: heard,
    logs,
    tasks,
    inventory: () => {
      const last = heard.findLast((message) => message.type === 'hello' || message.type === 'inventory');
      return last && 'inventory' in last ? last.inventory : null;
    },
    linkCount: () => state.links,
    connected: () => live !== null,
    token: (claims = {}) =>
      sign('enrol+jwt', {
        aud: ENROL_AUDIENCE,
        sub: node,
        jti: randomUUID(),
        iat: now(),
        exp: now() + 3600,
        origin: `http://127.0.0.1:${port}`,
        commandKey: { kty: 'OKP', crv: 'Ed25519', x: commandKey.x },
        kind,
        ...claims,
      }),
    sign,
    async setDesired(containers, more = {}) {
      state.gen = more.gen ?? state.gen + 1;
      const claims = {
        aud: COMMAND_AUDIENCE,
        node,
        gen: state.gen,
        iat: now(),
        exp: now() + 600,
        containers,
        sshKeys: null,
        ...more,
      };
      state.document = await sign('desired+jwt', claims);
      send({ type: 'desired', document: state.document });
      return state.gen;
    },
    async command(what, id = randomUUID()) {
      const document = await sign('command+jwt', {
        aud: COMMAND_AUDIENCE,
        node,
        id,
        iat: now(),
        exp: now() + 600,
        do: what,
      });
      send({ type: 'command', document });
      return document;
    },
    send,
    credentials,
    socket() {
      if (!live) throw new Error('no daemon is connected');
      return live;
    },
    stopReading(stopped = true) {
      state.readingStopped = stopped;
      if (stopped) live?.pause();
      else live?.resume();
    },
    until(what, check, ms = 60_000) {
      const { promise, resolve, reject } =
        Promise.withResolvers<Exclude<ReturnType<typeof check>, false | null | undefined>>();
      const look = () => {
        const answer = check();
        if (answer) resolve(answer as Exclude<ReturnType<typeof check>, false | null | undefined>);
      };
      const timer = setTimeout(
        () => reject(new Error(`waited ${ms} ms in vain: ${what}\nlast heard: ${JSON.stringify(heard.slice(-3))}`)),
        ms,
      );
      waiters.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(timer);
        waiters.delete(look);
      });
    },
    async close() {
      const closed = Promise.withResolvers<void>();
      live?.terminate();
      server.closeAllConnections();
      server.close(() => closed.resolve());
      await closed.promise;
    },
    open,
  };
}

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { Protection } from '@stagi/contract/containerFields.ts';
import {
  type ActualContainer,
  type DaemonMessage,
  type Ed25519PublicJwk,
  ENROL_AUDIENCE,
  EnrolmentClaims,
  type Inventory,
  LINK_AUDIENCE,
  LINK_PROTOCOL,
  PlatformMessage,
  type RememberedContainer,
} from '@stagi/contract/daemon.ts';
import { Command, type DesiredContainer, DesiredState } from '@stagi/contract/desiredState.ts';
import { encodeFrame } from '@stagi/contract/frames.ts';
import { PRIVATE_ADDRESS } from '@stagi/contract/hostConfig.ts';
import type { MachineFacts } from '@stagi/contract/instances.ts';
import { ANY_ADDRESS } from '@stagi/contract/policy.ts';
import { decodeJwt, importJWK, jwtVerify, SignJWT } from 'jose';
import { WebSocket } from 'ws';

/** A daemon for tests: speaks the link's protocol over a real WebSocket and does what the test tells it. */

export const FACTS: MachineFacts = {
  hostname: 'machine',
  os: 'Ubuntu 24.04',
  kernel: '6.8',
  arch: 'x64',
  cpuName: 'CPU',
  cpus: 4,
  ramBytes: 8 * 2 ** 30,
  diskBytes: 100e9,
  diskFreeBytes: 50e9,
  gpus: [],
  dockerVersion: '27.0',
  launch: { init: true, capabilities: 'docker' },
  warnings: [],
};

export interface NodeKey {
  node: string;
  privateKey: KeyObject;
  publicKey: Ed25519PublicJwk;
  commandKey: Ed25519PublicJwk;
}

const WAIT_MS = 60_000;

export function makeKey(): { privateKey: KeyObject; publicKey: Ed25519PublicJwk } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privateKey, publicKey: publicKey.export({ format: 'jwk' }) as Ed25519PublicJwk };
}

export async function postEnrolment(url: string, token: string, key = makeKey(), jti = decodeJwt(token).jti) {
  const proof = await new SignJWT({ jti })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setAudience(ENROL_AUDIENCE)
    .sign(key.privateKey);
  const response = await fetch(`${url}/daemon-api/enrol`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, publicKey: key.publicKey, proof }),
  });
  return { status: response.status, body: (await response.json()) as { node?: string; message?: string } };
}

/** Exchanges an enrolment token for a node key. */
export async function enrolNode(url: string, token: string): Promise<NodeKey> {
  const claims = EnrolmentClaims.parse(decodeJwt(token));
  const key = makeKey();
  const { body } = await postEnrolment(url, token, key);
  if (!body.node) throw new Error(`enrolment was refused: ${body.message}`);
  return { ...key, node: body.node, commandKey: claims.commandKey };
}

type Kind = PlatformMessage['type'];
type MessageOf<T extends Kind> = Extract<PlatformMessage, { type: T }>;

export interface TestDaemon {
  socket: WebSocket;
  /** All received messages, in order. */
  received: PlatformMessage[];
  /** The containers and images of this machine; sent with the hello and by `sendInventory`. */
  inventory: Inventory;
  send(message: DaemonMessage): void;
  sendBytes(stream: number, offset: number, bytes: Uint8Array): void;
  /** The first message of a kind that fits, among those received already or later. */
  next<T extends Kind>(type: T, fits?: (message: MessageOf<T>) => boolean): Promise<MessageOf<T>>;
  hello(facts?: Partial<MachineFacts>, features?: string[], remembered?: RememberedContainer[]): Promise<void>;
  sendInventory(): void;
  /** The first desired state that fits, with its signature checked. */
  desired(fits?: (state: DesiredState) => boolean): Promise<DesiredState>;
  /** The first command that fits, with its signature checked. */
  command(fits?: (command: Command) => boolean): Promise<Command>;
  /** Changes the inventory to the desired state and sends it, as a daemon does when all goes well. */
  applyDesired(state: DesiredState): void;
  closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

/** Connects and answers the challenge; `change` makes the answer wrong. */
export async function dial(
  url: string,
  key: NodeKey,
  change: { nonce?: string; audience?: string; sub?: string; exp?: number; signer?: KeyObject } = {},
): Promise<TestDaemon> {
  const daemon = await open(url);
  const { nonce } = await daemon.next('challenge');
  const proof = await new SignJWT({ nonce: change.nonce ?? nonce })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setAudience(change.audience ?? LINK_AUDIENCE)
    .setSubject(change.sub ?? key.node)
    .setExpirationTime(change.exp ?? Math.floor(Date.now() / 1000) + 60)
    .sign(change.signer ?? key.privateKey);
  daemon.send({ type: 'auth', node: key.node, proof });
  return { ...daemon, ...verifiedDocuments(daemon, key) };
}

/** A daemon that is authenticated and has sent its hello. */
export async function connectDaemon(
  url: string,
  key: NodeKey,
  {
    facts = {},
    inventory = {},
    containers = [],
    features = [],
    remembered,
  }: {
    facts?: Partial<MachineFacts>;
    inventory?: Partial<Inventory>;
    containers?: ActualContainer[];
    features?: string[];
    remembered?: RememberedContainer[];
  } = {},
): Promise<TestDaemon> {
  const daemon = await dial(url, key);
  Object.assign(daemon.inventory, { ...inventory, containers });
  await daemon.next('welcome');
  await daemon.hello(facts, features, remembered);
  return daemon;
}

async function open(url: string): Promise<Omit<TestDaemon, 'desired' | 'command'>> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/daemon-api/link`, { perMessageDeflate: false });
  const received: PlatformMessage[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', (data: Buffer) => {
    received.push(PlatformMessage.parse(JSON.parse(data.toString())));
    for (const look of waiting) look();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const inventory: Inventory = { appliedGen: 0, containers: [], images: [], dockerError: null, sshKeys: null };
  const send = (message: DaemonMessage): void => socket.send(JSON.stringify(message));
  await once(socket, 'open');

  function next<T extends Kind>(type: T, fits: (message: MessageOf<T>) => boolean = () => true): Promise<MessageOf<T>> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = received.find((message) => message.type === type && fits(message as MessageOf<T>));
        if (found) settle(() => resolve(found as MessageOf<T>));
      };
      const timer = setTimeout(() => settle(() => reject(new Error(`no ${type} came`))), WAIT_MS);
      const settle = (how: () => void): void => {
        clearTimeout(timer);
        waiting.delete(look);
        how();
      };
      waiting.add(look);
      look();
    });
  }

  return {
    socket,
    received,
    inventory,
    send,
    next,
    closed,
    sendBytes: (stream, offset, bytes) => socket.send(encodeFrame({ stream, offset, bytes })),
    async hello(facts = {}, features = [], remembered = undefined) {
      send({
        type: 'hello',
        protocol: LINK_PROTOCOL,
        version: '0.1.0',
        bootId: 'boot-1',
        features,
        facts: { ...FACTS, ...facts },
        inventory,
        ...(remembered && { remembered }),
      });
      await next('desired');
    },
    sendInventory: () => send({ type: 'inventory', inventory }),
    applyDesired(state) {
      inventory.appliedGen = state.gen;
      inventory.containers = state.containers
        .filter((container) => container.state !== 'absent')
        .map((container) => actualOf(container, inventory.containers));
      send({ type: 'inventory', inventory });
    },
    async close() {
      socket.close();
      await closed;
    },
  };
}

function verifiedDocuments(daemon: Pick<TestDaemon, 'next'>, key: NodeKey) {
  async function verified<D>(document: string, typ: string, shape: { parse(payload: unknown): D }): Promise<D> {
    const { payload } = await jwtVerify(document, await importJWK(key.commandKey, 'EdDSA'), {
      algorithms: ['EdDSA'],
      typ,
      requiredClaims: ['exp', 'iat'],
    });
    return shape.parse(payload);
  }
  return {
    async desired(fits: (state: DesiredState) => boolean = () => true) {
      const { document } = await daemon.next('desired', (message) =>
        fits(DesiredState.parse(decodeJwt(message.document))),
      );
      return verified(document, 'desired+jwt', DesiredState);
    },
    async command(fits: (command: Command) => boolean = () => true) {
      const { document } = await daemon.next('command', (message) => fits(Command.parse(decodeJwt(message.document))));
      return verified(document, 'command+jwt', Command);
    },
  };
}

function actualOf(wanted: DesiredContainer, before: readonly ActualContainer[]): ActualContainer {
  const known = before.find((container) => container.id === wanted.id);
  const isRunning = wanted.state === 'running';
  const isRecreated = known && known.specNo !== wanted.specNo;
  const startedAnew = isRunning && (known?.state !== 'running' || isRecreated);
  return {
    id: wanted.id,
    gen: wanted.gen,
    specNo: wanted.specNo,
    dockerId: known && !isRecreated ? known.dockerId : `docker-${wanted.id}-${wanted.specNo}`,
    state: isRunning ? 'running' : 'exited',
    exitCode: isRunning ? null : 143,
    oomKilled: false,
    error: null,
    startedAt: startedAnew ? new Date().toISOString() : (known?.startedAt ?? null),
    finishedAt: isRunning ? null : new Date().toISOString(),
    // Docker keeps what a container was created with.
    ports: known && !isRecreated ? known.ports : boundPorts(wanted),
    protections: known && !isRecreated ? known.protections : [...Protection.options],
  };
}

function boundPorts({ spec }: DesiredContainer): NonNullable<ActualContainer['ports']> {
  return spec.ports.map(({ host, container, public: isPublic = true }) => ({
    host,
    container,
    address: isPublic ? ANY_ADDRESS : PRIVATE_ADDRESS,
  }));
}

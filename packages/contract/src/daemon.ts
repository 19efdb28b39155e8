import { z } from 'zod';
import { ContainerHealth } from './containerFields.ts';
import { CommandOutcome } from './desiredState.ts';
import { MachineFacts } from './instances.ts';
import { Id } from './page.ts';
import { PULLED_LAYERS_MAX, PulledLayer } from './pulledLayer.ts';
import { UsageSample } from './usageSample.ts';

/**
 * The link between the platform and `stagid`, the daemon of a server: one WebSocket that the daemon
 * opens to `/daemon-api/link`. JSON text frames are control; binary frames carry bytes of streams.
 */
export const LINK_PROTOCOL = 1;
export const MAX_FRAME_BYTES = 1024 * 1024;

/** The feature of a daemon that runs tasks. */
export const TASKS_FEATURE = 'tasks';
/** The feature of a daemon that recreates a container whose specification has changed. */
export const EDIT_FEATURE = 'edit';
/** The feature of a daemon that measures what its server and its containers use. */
export const USAGE_FEATURE = 'usage';
/** The feature of a daemon that removes images. */
export const IMAGES_FEATURE = 'images';
/** The feature of a daemon that tells how containers are protected (`Protection`). */
export const PROTECTIONS_FEATURE = 'protections';
/** The feature of a platform that answers `pull-auth`. */
export const PULL_AUTH_FEATURE = 'pull-auth';

/** Flow control: bytes of a stream that may be in flight before the receiver grants more credit. */
export const STREAM_CREDIT_BYTES = 256 * 1024;

export const ENROL_AUDIENCE = 'stagi-daemon-enrol';
export const LINK_AUDIENCE = 'stagi-daemon-link';

/** How long one authentication holds; before it expires the daemon answers a new challenge on the same link. */
export const LINK_LEASE_SECONDS = 900;
/** Key rotation: a daemon's key is replaced at this age; the previous key is accepted for the overlap. */
export const KEY_DAYS = 30;
export const KEY_OVERLAP_HOURS = 24;

export const Ed25519PublicJwk = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().length(43),
});
export type Ed25519PublicJwk = z.infer<typeof Ed25519PublicJwk>;

/** Claims of `daemon-token.jwt` (EdDSA, `typ` `enrol+jwt`): one use, 24 hours. */
export const EnrolmentClaims = z.object({
  aud: z.literal(ENROL_AUDIENCE),
  /** The node: the id of its instance. */
  sub: z.string(),
  jti: z.string(),
  iat: z.number(),
  exp: z.number(),
  /** Where to dial, pinned: `http(s)://host:port`. */
  origin: z.url(),
  /** The key that signs desired states and commands, pinned. */
  commandKey: Ed25519PublicJwk,
  kind: z.enum(['rented', 'self-hosted']),
});
export type EnrolmentClaims = z.infer<typeof EnrolmentClaims>;

/**
 * `POST /daemon-api/enrol`: exchanges the enrolment file for a key that was made on the server.
 * `proof` is a JWS by that key over `{ aud: ENROL_AUDIENCE, jti }`.
 */
export const EnrolRequest = z.object({
  token: z.string().max(8192),
  publicKey: Ed25519PublicJwk,
  proof: z.string().max(8192),
});
export const EnrolResponse = z.object({ isSuccess: z.literal(true), node: z.string() });

/** What became of a run of a task besides its container. */
export const ActualTask = z.object({
  /**
   * `preparing`: files are put in. `ready`: they are in. `saving`: it has ended, and its output is uploaded. `saved`: the
   * upload has ended. `not saved`: it cannot be uploaded, and is not tried again.
   */
  phase: z.enum(['preparing', 'ready', 'saving', 'saved', 'not saved']),
  /** Uploaded so far. */
  files: z.number().int(),
  bytes: z.number().int(),
  /** Entries of the output directory that are no files: symbolic links, sockets, devices. */
  skipped: z.number().int(),
  /** Why it is `not saved`, or why the upload is tried again. */
  error: z.string().nullable(),
  /** The daemon stopped it at its time limit. */
  timedOut: z.boolean(),
  /** The server restarted while it ran: its end was not its own. */
  interrupted: z.boolean(),
});
export type ActualTask = z.infer<typeof ActualTask>;

/** Of a run into which no file was put yet. */
export const FRESH_TASK: ActualTask = {
  phase: 'preparing',
  files: 0,
  bytes: 0,
  skipped: 0,
  error: null,
  timedOut: false,
  interrupted: false,
};

/** A container as Docker shows it. */
export const ActualContainer = z.object({
  id: Id,
  gen: z.number().int(),
  /** The specification that it was created under. Earlier daemons leave it out: 1. */
  specNo: z.number().int().optional(),
  dockerId: z.string(),
  state: z.enum(['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead']),
  exitCode: z.number().int().nullable(),
  oomKilled: z.boolean(),
  error: z.string().nullable(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  /** Starts by its restart policy since somebody started it. Earlier daemons leave it out. */
  restarts: z.number().int().min(0).optional(),
  /** That of the run before, while it runs; left out where the daemon did not see that end. */
  lastExitCode: z.number().int().optional(),
  /** The addresses that its ports are bound to. Earlier daemons leave it out. */
  ports: z
    .array(z.object({ host: z.number().int(), container: z.number().int(), address: z.string() }))
    .max(200)
    .optional(),
  /** It was created with these (`Protection`). Earlier daemons leave them out. */
  protections: z.array(z.string().max(40)).max(20).optional(),
  /** Of its health check, while it runs with one. */
  health: ContainerHealth.optional(),
  /** Of the run of a task. */
  task: ActualTask.optional(),
});
export type ActualContainer = z.infer<typeof ActualContainer>;

export const Inventory = z.object({
  /** The node generation that was applied last. */
  appliedGen: z.number().int(),
  containers: z.array(ActualContainer),
  images: z.array(
    z.object({
      reference: z.string(),
      sizeBytes: z.number(),
      createdAt: z.string().nullable(),
      /** Whether the platform may have it removed. Earlier daemons leave it out. */
      ours: z.boolean().optional(),
    }),
  ),
  /** Set when Docker does not answer. */
  dockerError: z.string().nullable(),
  /** When the machine was started, by its own clock as the times of containers are. Earlier daemons leave it out. */
  bootedAt: z.iso.datetime().optional(),
  /** Fingerprints or whole lines that are in authorized_keys now; null when not managed. */
  sshKeys: z.array(z.string()).nullable(),
});
export type Inventory = z.infer<typeof Inventory>;

/** The memory that a daemon has of a container, also of one that is gone. */
export const RememberedContainer = z.object({
  id: Id,
  /** The highest generation that it was told, or did something under. */
  gen: z.number().int(),
  /** The one of its last start; 0: it was never started. */
  begunGen: z.number().int(),
  /** The highest specification that it was told, or created. */
  specNo: z.number().int(),
});
export type RememberedContainer = z.infer<typeof RememberedContainer>;

/** What to log in to a registry with. It is used for one pull, kept in memory only. */
export const RegistryAuth = z.object({
  /** As image references name it: `docker.io`. */
  serveraddress: z.string(),
  username: z.string(),
  password: z.string(),
});
export type RegistryAuth = z.infer<typeof RegistryAuth>;

/** From the daemon. */
export const DaemonMessage = z.discriminatedUnion('type', [
  /** Answers a challenge: a JWS by the node key over `{ aud: LINK_AUDIENCE, sub: node, nonce, exp }`. */
  z.object({ type: z.literal('auth'), node: z.string(), proof: z.string() }),
  z.object({
    type: z.literal('hello'),
    protocol: z.literal(LINK_PROTOCOL),
    version: z.string(),
    bootId: z.string(),
    /** What it can do beyond containers. Earlier daemons leave it out. */
    features: z.array(z.string().max(40)).max(50).optional(),
    facts: MachineFacts,
    inventory: Inventory,
    /** For a platform whose database was restored from a backup, and knows less. Earlier daemons leave it out. */
    remembered: z.array(RememberedContainer).optional(),
  }),
  z.object({ type: z.literal('heartbeat'), at: z.string() }),
  /**
   * Asks to replace the node key. Both are JWS (`typ` `rotate+jwt`) over `{ aud: LINK_AUDIENCE, sub: node, nonce, jwk,
   * exp }`, `nonce` that of the last challenge and `jwk` the new public key: `proof` by the old key, `holder` by the new.
   */
  z.object({ type: z.literal('rotate'), proof: z.string().max(8192), holder: z.string().max(8192) }),
  z.object({ type: z.literal('inventory'), inventory: Inventory }),
  /** The progress of a slow step. */
  z.object({
    type: z.literal('progress'),
    containerId: Id,
    gen: z.number().int(),
    phase: z.enum(['pulling', 'creating', 'preparing', 'starting', 'stopping', 'saving', 'removing']),
    detail: z.string().nullable(),
    fraction: z.number().nullable(),
    /** Of a pull. */
    layers: z.array(PulledLayer).max(PULLED_LAYERS_MAX).optional(),
  }),
  /** Asks what to log in to the registry of this container's image with. */
  z.object({ type: z.literal('pull-auth'), containerId: Id, gen: z.number().int() }),
  /** A step failed; unless `permanent` the daemon retries it for this gen. */
  z.object({
    type: z.literal('failed'),
    containerId: Id,
    gen: z.number().int(),
    phase: z.string(),
    message: z.string(),
    permanent: z.boolean(),
    /** It is permanent until this changes: then the platform gives the container a new generation. */
    waitsFor: z.literal('credential').optional(),
    /** How often the steps of this gen have failed. Earlier daemons leave both out. */
    attempt: z.number().int().min(1).optional(),
    /** Milliseconds until the next attempt; 0 while it is under way. A duration, as the clock of a machine may be wrong. */
    retryInMs: z.number().int().min(0).optional(),
  }),
  z.object({
    type: z.literal('result'),
    commandId: z.string(),
    ok: z.boolean(),
    message: z.string().nullable(),
    outcome: CommandOutcome.optional(),
  }),
  /**
   * Opens a log stream; its bytes follow as binary frames once credit was granted. `epoch` is the Docker id.
   * A stream number is used once per link.
   */
  z.object({ type: z.literal('log-open'), stream: z.number().int(), containerId: Id, epoch: z.string() }),
  /** Docker had dropped lines between the cursor and the first it still had. */
  z.object({
    type: z.literal('log-gap'),
    stream: z.number().int(),
    offset: z.number().int(),
    from: z.string().nullable(),
    to: z.string().nullable(),
    reason: z.string(),
  }),
  /** The container has stopped and everything it printed was sent. */
  z.object({ type: z.literal('log-end'), stream: z.number().int() }),
  /** Only when the welcome asked for samples. Of the lowest priority: on a congested link it is not sent. */
  z.object({ type: z.literal('usage'), sample: UsageSample }),
]);
export type DaemonMessage = z.infer<typeof DaemonMessage>;

/** The place to resume a container's log from: everything before it is stored. */
export const LogCursor = z.object({
  /** Bytes of the encoded stream stored so far. */
  offset: z.number().int(),
  /** Time of the last stored record as nanoseconds since 1970 (decimal string); null: from the beginning. */
  timeNs: z.string().nullable(),
  /** How many records with exactly that time are stored. */
  recordsAtTime: z.number().int(),
});
export type LogCursor = z.infer<typeof LogCursor>;

/** Fencing: the number of the link, from its welcome. The daemon drops messages that were meant for an earlier link. */
const LinkEpoch = z.number().int();

/** From the platform. */
export const PlatformMessage = z.discriminatedUnion('type', [
  /** The first message of a link, and again before the daemon's proof expires. */
  z.object({ type: z.literal('challenge'), nonce: z.string() }),
  z.object({
    type: z.literal('welcome'),
    epoch: z.number().int(),
    serverTime: z.string(),
    heartbeatSeconds: z.number(),
    /** Send a sample this often. Earlier platforms leave it out: they do not know samples. */
    sampleSeconds: z.number().positive().optional(),
    /** The node key is old: rotate it. */
    rotateKey: z.boolean(),
    /** What it can do beyond the first version. Earlier platforms leave it out. */
    features: z.array(z.string()).optional(),
  }),
  /** The new key is registered; the old one is accepted for the overlap. */
  z.object({ type: z.literal('rotated'), x: z.string() }),
  z.object({ type: z.literal('desired'), document: z.string() }),
  z.object({ type: z.literal('command'), document: z.string() }),
  /** Answers log-open: read from here; the first credit comes with it, counted from `cursor.offset`. */
  z.object({
    type: z.literal('log-resume'),
    epoch: LinkEpoch,
    stream: z.number().int(),
    cursor: LogCursor,
    credit: z.number().int(),
  }),
  /**
   * Flow control: bytes up to `offset` are stored durably; bytes up to `offset + bytes` may be sent. It is a window, not a
   * sum: each message replaces the one before. One follows each store, so it is also the acknowledgement that the
   * daemon's congestion control measures. Only whole records are acknowledged. Bytes that do not continue the stream end
   * the link; the next link resumes at what is stored.
   */
  z.object({
    type: z.literal('credit'),
    epoch: LinkEpoch,
    stream: z.number().int(),
    offset: z.number().int(),
    bytes: z.number().int(),
  }),
  z.object({ type: z.literal('log-refuse'), epoch: LinkEpoch, stream: z.number().int(), reason: z.string() }),
  /**
   * The node was revoked; do not reconnect with this key. `document` proves it: a JWS by the command key (`typ`
   * `revoked+jwt`) over `{ aud: COMMAND_AUDIENCE, node, exp }`.
   */
  z.object({ type: z.literal('revoked'), reason: z.string(), document: z.string() }),
  /** Dial `STREAMS_PATH` with this ticket (`Authorization: Bearer`): see `daemonStreams.ts`. It is used once. */
  z.object({ type: z.literal('streams'), epoch: LinkEpoch, ticket: z.string() }),
  /** Answers `pull-auth`; null: there is no credential for this registry. */
  z.object({
    type: z.literal('pull-auth'),
    epoch: LinkEpoch,
    containerId: Id,
    gen: z.number().int(),
    auth: RegistryAuth.nullable(),
  }),
  /** The platform is about to restart: disconnect now, reconnect after this time. */
  z.object({ type: z.literal('drain'), reconnectAfterMs: z.number().int() }),
]);
export type PlatformMessage = z.infer<typeof PlatformMessage>;

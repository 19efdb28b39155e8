import { z } from 'zod';
import { FILES_FEATURE, FileOperation } from './daemonFiles.ts';
import { COMMAND_AUDIENCE } from './desiredState.ts';
import { Id } from './page.ts';
import { Shell, TerminalSize } from './terminals.ts';

/**
 * Streams to a daemon: HTTP/2 over a second WebSocket that the daemon dials when the platform asks for it (`streams` on
 * the link). The platform is the HTTP/2 client, the daemon the server, so that streams work behind NAT. Each is one
 * `POST /`: its request body goes to the daemon, its response body comes back, both with HTTP/2's own flow control, half
 * close and reset. The socket belongs to its link: it ends with it.
 */
export const STREAMS_PATH = '/daemon-api/streams';
/** The feature of a daemon that serves streams. */
export const STREAMS_FEATURE = 'streams';

/** The request header with the signed opening. */
export const OPENING_HEADER = 'stagi-open';
/** The response header of a refusal: why, percent-encoded. */
export const REASON_HEADER = 'stagi-reason';

/** How long an opening may travel. */
export const OPENING_SECONDS = 30;

/** What one stream may read ahead. Two windows are in memory at most: one at each end. */
export const STREAM_WINDOW_BYTES = 1024 * 1024;
/** Of all streams together: enough that readers that stand still do not stop the others. */
export const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;

/** What a stream leads to: a closed list, and never an address. */
export const StreamTarget = z.discriminatedUnion('kind', [
  /** Gives back what it gets: for tests and measurements. */
  z.object({ kind: z.literal('echo') }),
  /** A port inside a container that is mapped to the host. */
  z.object({ kind: z.literal('port'), containerId: Id, port: z.number().int().min(1).max(65_535) }),
  /** A shell, in frames of `terminalFrames.ts`. */
  z.object({
    kind: z.literal('terminal'),
    session: z.uuid(),
    /** The session is theirs alone. */
    user: Id,
    at: z.union([z.strictObject({ container: Id }), z.strictObject({ host: z.literal(true) })]),
    /** Null: the first that exists. */
    shell: Shell.nullable(),
    ...TerminalSize.shape,
    /** The viewer has the output up to here, and the session must exist. Null: it is started, unless it exists. */
    offset: z.number().int().min(0).nullable(),
  }),
  /** Files of a volume, which the directory inside the container names. */
  z.object({ kind: z.literal('file'), containerId: Id, volume: z.string(), operation: FileOperation }),
]);
export type StreamTarget = z.infer<typeof StreamTarget>;

/** What came after the first streams. */
const FEATURES: Partial<Record<StreamTarget['kind'], string>> = { file: FILES_FEATURE };

/** What a daemon must have for this stream. */
export const featuresOf = ({ kind }: StreamTarget): string[] =>
  FEATURES[kind] === undefined ? [STREAMS_FEATURE] : [STREAMS_FEATURE, FEATURES[kind]];

/**
 * The signed opening of one stream (JWS compact, EdDSA by the pinned command key, `typ` `stream+jwt`): used once, within
 * `OPENING_SECONDS`, on the link with this epoch.
 */
export const StreamOpening = z.object({
  aud: z.literal(COMMAND_AUDIENCE),
  node: z.string(),
  epoch: z.number().int(),
  id: z.uuid(),
  iat: z.number(),
  exp: z.number(),
  open: StreamTarget,
});
export type StreamOpening = z.infer<typeof StreamOpening>;

/**
 * The status of the answer: 200 opens; 403 the opening is not valid or the server's own policy forbids it; 404 there is no
 * such container, port, volume or file; 409 its state forbids it; 429 too many at once; 503 the daemon cannot serve it now;
 * 507 its disk is full.
 */
export const STREAM_REFUSALS = [403, 404, 409, 429, 503, 507] as const;

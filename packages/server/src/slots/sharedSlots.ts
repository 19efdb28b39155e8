import { availableParallelism } from 'node:os';
import { createFairSlots, type FairSlots, type SlotLimits } from './fairSlots.ts';

const MEGABYTES = 1024 * 1024;
/** More of them would only share the processors. */
const GIT_READERS = Math.max(8, 4 * availableParallelism());

/** The things that people share in one process: each is bounded, and nobody gets all of it (docs/SECURITY.md). */
const LIMITS = {
  /** Calls that are being answered. The database serves ten at a time: some are left to others even while all of one's wait for a lock. */
  calls: { total: 200, perPerson: 8, perStranger: 8, waiting: 1_000 },
  /** The same with a streamed answer, which may take half an hour. */
  streamedCalls: { total: 400, perPerson: 64, perStranger: 8, waiting: 400 },
  /** Bytes of large bodies in memory. */
  largeBodies: { total: 96 * MEGABYTES, perPerson: 24 * MEGABYTES, waiting: 200 },
  /** Processes of git that read for pages. */
  gitReaders: { total: GIT_READERS, perPerson: GIT_READERS / 4, waiting: 200 },
  /** Starts of git, one after the other. */
  gitStarts: { total: 1, perPerson: 1, waiting: 1_000 },
  /** Clones, fetches and pushes. */
  gitTransfers: { total: 64, perPerson: 16 },
  /** Archives of code that are made for tasks. */
  taskSources: { total: 32, perPerson: 8, waiting: 500 },
  /** Files of code that are read as they are. */
  rawFiles: { total: 64, perPerson: 16 },
  /** Answers of the content host, and of the archive of the daemon, to whoever has their address. */
  contentReads: { total: 512, perPerson: 64, perStranger: 64 },
  /** Uploads to volumes, and downloads from them. */
  volumeTransfers: { total: 64, perPerson: 16 },
  /** Folders of objects as ZIP files, each read object by object. */
  objectZips: { total: 32, perPerson: 4 },
  /** Each takes a connection of the database for a second. */
  logSearches: { total: 8, perPerson: 2, waiting: 32 },
  /** WebSockets of browsers. */
  streams: { total: 4_000, perPerson: 64 },
  sshConnections: { total: 400, perPerson: 64, perStranger: 50 },
  s3Connections: { total: 2_000, perPerson: 500, perStranger: 250 },
  /** S3 requests that are being authenticated, of keys that have not worked before. */
  s3Strangers: { total: 256, perPerson: 0, perStranger: 32, waiting: 4_000 },
  /** Links of daemons that have not authenticated. */
  linkOpenings: { total: 1_024, perPerson: 0, perStranger: 128 },
  /** Proofs of daemons that are looked at: each takes a connection of the database. */
  linkHandshakes: { total: 4, perPerson: 0, perStranger: 2, waiting: 1_024 },
} satisfies Record<string, SlotLimits>;

export type SharedSlots = Record<keyof typeof LIMITS, FairSlots>;

export function createSharedSlots(): SharedSlots {
  const slots = Object.entries(LIMITS).map(([name, limits]) => [name, createFairSlots(limits)]);
  return Object.fromEntries(slots) as SharedSlots;
}

import type { BlobStore } from '@stagi/s3/blobStore.ts';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Bus } from './bus/bus.ts';
import type { Config } from './config/config.ts';
import type { Db } from './db/schema.ts';
import type { Repositories } from './git/repositories.ts';
import type { Queue } from './jobs/queue.ts';
import type { MetricsRecorder } from './metrics/recorder.ts';
import type { StreamHub } from './nodes/streamHub.ts';
import type { Provider } from './providers/provider.ts';
import type { WorkerRegistration } from './reconcile/workerRegistry.ts';
import type { SecretBox } from './secrets/secretBox.ts';
import type { SigningKeys } from './sessions/signingKeys.ts';
import type { SharedSlots } from './slots/sharedSlots.ts';

/** The services that the platform runs on, passed as an argument. */
export interface Context {
  config: Config;
  /** Marks our machines at clouds and our bytes in stores: those of another installation are left alone. */
  installationId: string;
  /** The moment of the backup that it was restored from, until an operator releases it: it does nothing by itself. */
  heldSince: Date | null;
  /** Access to all rows, for the platform's own work. Handlers get what their call may access instead (`app/crossWorkspaceCalls.ts`). */
  db: Db;
  /** Access to the rows of one workspace; null: to rows without a workspace. */
  within(workspaceId: number | null): Db;
  /** The pool behind `db`, for the named statements of hot paths. */
  pg: pg.Pool;
  /** The pool behind `within`. */
  callsPg: pg.Pool;
  /** Where the bytes of objects lie, by the name of the location: `local`, and those of S3_LOCATIONS. */
  blobs: ReadonlyMap<string, BlobStore>;
  /** The platform's own files: pictures of people, screenshots. */
  files: BlobStore;
  /** The git repositories of projects, to read from. */
  repositories: Repositories;
  /** Shows that this process is alive: leases and unfinished writes of a process that has ended are taken over. */
  registration: WorkerRegistration;
  jobs: Queue;
  bus: Bus;
  providers: ReadonlyMap<string, Provider>;
  secrets: SecretBox;
  keys: SigningKeys;
  /** The address at which machines reach this platform; changes when Docker is started after it. */
  readonly daemonOrigin: string;
  /** The address at which programs on rented servers reach the S3 service. */
  readonly s3MachineOrigin: string;
  /** Only paces loops: billing and deadlines use the database's clock. */
  clock: { now(): Date };
  log: Logger;
  meters: MetricsRecorder;
  /** The places that people share in this process. */
  slots: SharedSlots;
  /** Streams to the daemons whose links this process holds. */
  streams: StreamHub;
}

import type pg from 'pg';
import type { Logger } from 'pino';
import type { SigningKeys } from './auth/signingKeys.ts';
import type { Bus } from './bus/bus.ts';
import type { Config } from './config.ts';
import type { Db } from './db/schema.ts';
import type { Queue } from './jobs/queue.ts';
import type { Meters } from './metrics/meters.ts';
import type { Provider } from './providers/provider.ts';
import type { SecretBox } from './secrets/box.ts';

/** What the product runs on; passed, never injected. */
export interface Context {
  config: Config;
  /** All rows, for what the platform does of itself. Handlers of calls find in its place what their call may reach (`http/reach.ts`). */
  db: Db;
  /** A handle on the rows of one workspace; null: on those that are of none. */
  within(workspaceId: number | null): Db;
  /** The pool behind `db`, for the named statements of hot paths. */
  pg: pg.Pool;
  /** The pool behind `within`. */
  callsPg: pg.Pool;
  jobs: Queue;
  bus: Bus;
  providers: ReadonlyMap<string, Provider>;
  secrets: SecretBox;
  keys: SigningKeys;
  /** Where machines reach this platform; changes when Docker is started after it. */
  readonly daemonOrigin: string;
  /** Bills and deadlines use the database's clock; this one only paces loops. */
  clock: { now(): Date };
  log: Logger;
  meters: Meters;
}

import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Database, Db } from './schema.ts';

/** Statements of transaction control; they read no rows. */
const TRANSACTION = /^(begin|start transaction|commit|rollback|savepoint|release)\b/;

/** The setting for calls in no workspace: the policies then raise an error on any row of a workspace. */
const NO_WORKSPACE = 'none';

/**
 * A database handle limited to the rows of one workspace by row-level security (isolation.ts), over connections of the
 * member role. Without a workspace, a statement that meets a row of any workspace fails. Each statement is sent together
 * with its workspace, in one message and one transaction, so that nothing is left on the connection.
 */
export function withinWorkspace(pool: pg.Pool, workspaceId: number | null): Db {
  const workspace = workspaceId === null ? NO_WORKSPACE : String(workspaceId);
  return new Kysely<Database>({
    dialect: new PostgresDialect({
      pool: {
        options: pool.options,
        async connect() {
          const client = await pool.connect();
          const query = (text: string, values: readonly unknown[]): Promise<pg.QueryResult> =>
            TRANSACTION.test(text) ? client.query(text) : runQuery(client, new WorkspaceQuery(workspace, text, values));
          return {
            // Without cursors, as nothing streams.
            query: query as unknown as PostgresPoolClient['query'],
            release: (broken) => client.release(broken),
          };
        },
        // The owner of the pool ends it.
        end: async () => {},
      },
    }),
  });
}

function runQuery(client: pg.PoolClient, query: WorkspaceQuery): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const answered = (error: Error | null | undefined, result: pg.QueryResult): void =>
      error ? reject(error) : resolve(result);
    (client.query as (query: WorkspaceQuery, callback: typeof answered) => void)(query, answered);
  });
}

/** Parts of the driver that its types lack: the steps of the extended query protocol. */
interface ProtocolConnection {
  parse(statement: { name: string; text: string; types: readonly number[] }): void;
  bind(portal: { portal: string; statement: string; values: readonly string[] }): void;
  execute(portal: { portal: string; rows: number }): void;
}
interface ProtocolSteps {
  prepare(wire: ProtocolConnection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: ProtocolConnection): void;
}
const ExtendedQuery = pg.Query as unknown as new (question: {
  text: string;
  values: unknown[];
  queryMode: 'extended';
}) => pg.Query & ProtocolSteps;

/** A query preceded by the setting of its workspace; both before one Sync, which makes them one transaction. */
class WorkspaceQuery extends ExtendedQuery {
  readonly #workspace: string;
  #isSet = false;

  constructor(workspace: string, text: string, values: readonly unknown[]) {
    super({ text, values: [...values], queryMode: 'extended' });
    this.#workspace = workspace;
  }

  override prepare(wire: ProtocolConnection): void {
    wire.parse({ name: '', text: "select set_config('stagi.workspace', $1, true)", types: [] });
    wire.bind({ portal: '', statement: '', values: [this.#workspace] });
    wire.execute({ portal: '', rows: 0 });
    super.prepare(wire);
  }

  override handleDataRow(message: unknown): void {
    if (this.#isSet) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: ProtocolConnection): void {
    if (this.#isSet) super.handleCommandComplete(message, wire);
    this.#isSet = true;
  }
}

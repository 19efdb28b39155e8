import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Database, Db } from './schema.ts';

/** Statements that end or begin what others stand in; they read no rows. */
const TRANSACTION = /^(begin|start transaction|commit|rollback|savepoint|release)\b/;

/** What the database is told of calls that are made in no workspace: it refuses to look for rows of any. */
const NONE = 'none';

/**
 * A handle on the rows of one workspace, for connections of the member role: the policies of isolation.ts let no other
 * rows of workspaces through; where none is given a statement that comes across one fails. Each statement travels with the workspace it is made for, in one message and
 * one transaction, so that nothing of it is left on the connection.
 */
export function within(pool: pg.Pool, workspaceId: number | null): Db {
  const workspace = workspaceId === null ? NONE : String(workspaceId);
  return new Kysely<Database>({
    dialect: new PostgresDialect({
      pool: {
        options: pool.options,
        async connect() {
          const client = await pool.connect();
          const query = (text: string, values: readonly unknown[]): Promise<pg.QueryResult> =>
            TRANSACTION.test(text) ? client.query(text) : ask(client, new WithinWorkspace(workspace, text, values));
          return {
            // No cursors: nothing here streams.
            query: query as unknown as PostgresPoolClient['query'],
            release: (broken) => client.release(broken),
          };
        },
        // It is the pool's owner that ends it.
        end: async () => {},
      },
    }),
  });
}

function ask(client: pg.PoolClient, query: WithinWorkspace): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const answered = (error: Error | null | undefined, result: pg.QueryResult): void =>
      error ? reject(error) : resolve(result);
    (client.query as (query: WithinWorkspace, callback: typeof answered) => void)(query, answered);
  });
}

/** What of the driver's query and of its connection is not in their types: the steps of the extended protocol. */
interface Wire {
  parse(statement: { name: string; text: string; types: readonly number[] }): void;
  bind(portal: { portal: string; statement: string; values: readonly string[] }): void;
  execute(portal: { portal: string; rows: number }): void;
}
interface Steps {
  prepare(wire: Wire): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
}
const ExtendedQuery = pg.Query as unknown as new (question: {
  text: string;
  values: unknown[];
  queryMode: 'extended';
}) => pg.Query & Steps;

/** A query behind the setting of its workspace: both before the same Sync, which is what makes them one transaction. */
class WithinWorkspace extends ExtendedQuery {
  readonly #workspace: string;
  #isSet = false;

  constructor(workspace: string, text: string, values: readonly unknown[]) {
    super({ text, values: [...values], queryMode: 'extended' });
    this.#workspace = workspace;
  }

  override prepare(wire: Wire): void {
    wire.parse({ name: '', text: "select set_config('stagi.workspace', $1, true)", types: [] });
    wire.bind({ portal: '', statement: '', values: [this.#workspace] });
    wire.execute({ portal: '', rows: 0 });
    super.prepare(wire);
  }

  override handleDataRow(message: unknown): void {
    if (this.#isSet) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#isSet) super.handleCommandComplete(message, wire);
    this.#isSet = true;
  }
}

import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Which of the two seeded workspaces: the one that is attacked, or the attacker's. */
export type Whose = 'victim' | 'visitor';

const MARK: Record<Whose, string> = { victim: 'canary-v-', visitor: 'canary-m-' };

/** The canaries of a workspace in an answer, a header or a frame. */
export function canariesIn(text: string, whose: Whose): string[] {
  return text.match(new RegExp(`${MARK[whose]}[a-z0-9-]+`, 'g')) ?? [];
}

export const searchFor = (whose: Whose): string => MARK[whose].slice(0, -1);

/** A canary that is valid as a title, a Unique ID or a name, and names its table. */
export function canary(whose: Whose, table: string): string {
  return `${MARK[whose]}${table.replaceAll('_', '-').slice(0, 20)}-${randomBytes(3).toString('hex')}`;
}

/** Columns that hold enum values, hashes or encrypted values, never a person's text. */
const NOT_TEXT =
  /(_hash|_sealed|_sha|_jwk|_key|^hash|^hex)$|^(action|admin_owner|app_id|app_permissions|archived_by|area|auth_type|boot_id|capabilities|code|code_challenge|credential|credential_id|currency|decision|desired|ended_by|engine|enrol_jti|epoch|flow|from_status|health|idem_key|issuer|key|kind|language|last_result|location|machine_state|mime_type|mode|object_type|outcome|output_phase|permissions|plan|precision|provider|purpose|quality|reason|resource_kind|restart_policy|revoked_reason|role|route|starter_refused|state|status|theme|to_status|topic|transports|type|visibility)$/;
/** The same for fields within JSON. */
const NOT_TEXT_INSIDE = /^(arch|capabilities|kind|priority|reason|restartPolicy|role|state|status|type|visibility)$/;
/** Append-only tables, and mails, which no call shows. */
const NEVER_CHANGED = new Set(['audit', 'journal', 'mail']);

/** The tables with rows of a person or a workspace, by their foreign keys or column names, and the strays that operators see. */
const SOMEBODYS = `with recursive somebodys as (
    select oid from pg_class where oid in ('app_user'::regclass, 'workspace'::regclass, 'stray'::regclass)
    union select conrelid from pg_constraint join somebodys on confrelid = somebodys.oid where contype = 'f')
  select relname from pg_class join somebodys using (oid)
  union select table_name from information_schema.columns
    where table_schema = 'public'
      and column_name in ('workspace_id', 'client_id', 'user_id', 'instance_id', 'container_id')`;

export interface PlantedCanaries {
  /** `table.column` of each place with a canary. */
  fields: string[];
  /** Writes that the database refused, with the reason. */
  refused: string[];
}

/** Writes a canary into every text column and JSON text that has none yet, also empty ones. */
export async function plantCanaries(databaseUrl: string, whose: Whose): Promise<PlantedCanaries> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const sown: PlantedCanaries = { fields: [], refused: [] };
  try {
    const { rows: columns } = await client.query<Column>(`
      select table_name as "table", column_name as name, data_type as type from information_schema.columns
      where table_schema = 'public' and is_generated = 'NEVER'
        and (data_type in ('text', 'character varying', 'jsonb') or udt_name = '_text')
        and table_name in (${SOMEBODYS}) order by 1, 2`);
    for (const column of columns) {
      if (NEVER_CHANGED.has(column.table) || NOT_TEXT.test(column.name)) continue;
      await plantInColumn(client, column, whose, sown);
    }
  } finally {
    await client.end();
  }
  return sown;
}

interface Column {
  table: string;
  name: string;
  type: string;
}

async function plantInColumn(client: pg.Client, column: Column, whose: Whose, sown: PlantedCanaries): Promise<void> {
  const [table, name] = [client.escapeIdentifier(column.table), client.escapeIdentifier(column.name)];
  const { rows } = await client.query<{ place: string; value: unknown }>(
    `select ctid::text as place, ${name} as value from ${table} where (${name}::text like '%canary-%') is not true`,
  );
  for (const { place, value } of rows) {
    const word = /email|recipient/.test(column.name)
      ? `${canary(whose, column.table)}@example.com`
      : canary(whose, column.table);
    const written = filled(column, value, word);
    if (written === undefined) continue;
    try {
      await client.query(`update ${table} set ${name} = $1 where ctid = $2::tid`, [written, place]);
      sown.fields.push(`${column.table}.${column.name}`);
    } catch (error) {
      sown.refused.push(`${column.table}.${column.name}: ${(error as Error).message}`);
    }
  }
}

function filled({ type }: Column, value: unknown, word: string): unknown {
  if (type === 'ARRAY') return [word];
  if (type !== 'jsonb') return word;
  const changed = JSON.stringify(value, (key, inner: unknown) =>
    typeof inner === 'string' && !NOT_TEXT_INSIDE.test(key) && !isTime(inner) ? word : inner,
  );
  return value === null || changed === JSON.stringify(value) ? undefined : changed;
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text);

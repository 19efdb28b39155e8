import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsInEveryTable } from '../app/testing/workspaceRows.ts';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';
import { type Isolated, NAMES_A_WORKSPACE, OF_A_PERSON, OF_A_WORKSPACE, OF_THE_PLATFORM } from './isolation.ts';
import { MEMBER_ROLE, memberUrl } from './memberRole.ts';
import { openPool, type Pool } from './pool.ts';
import type { Db } from './schema.ts';

const DENIED = '42501';
/** Errors of triggers that run before the policy is checked. */
const REFUSED_EARLIER: Record<string, { given: string } | undefined> = {
  hold: { given: '23514' },
  account: { given: 'P0001' },
};
/** Values for rows to insert. */
const FRESH: Record<string, object | undefined> = { account: { balance: 0 } };
const TABLES = Object.keys(OF_A_WORKSPACE);
const LISTS = [TABLES, OF_A_PERSON, Object.keys(OF_THE_PLATFORM)] as readonly (readonly string[])[];

let app: TestApp;
let alice: Person;
let bob: Person;
let bare: Pool;
beforeAll(async () => {
  // Without workers, which would delete rows.
  app = await startTestApp({}, { role: 'api' });
  [alice, bob] = [await app.signUp('Alice'), await app.signUp('Bob')];
  for (const person of [alice, bob]) await rowsInEveryTable(app, person);
  bare = openPool(memberUrl(app.databaseUrl), { max: 2 });
});
afterAll(async () => {
  await bare?.close();
  await app?.close();
});

describe('the isolation rules', () => {
  it('list every table once, with policies wherever a table refers to a workspace', async () => {
    const { tables, faults } = await look(app.ctx.db);
    expect(tables.length).toBeGreaterThan(0);
    expect(faults).toEqual([]);
    console.log(`rules: n = ${tables.length} tables, ${TABLES.length} of a workspace`);
  });

  it('fail for every kind of table without a rule', async () => {
    const newcomers = {
      by_column: 'workspace_id integer not null',
      by_other_column: 'client_id integer',
      by_key: 'place integer references workspace',
      by_parent: 'machine integer references instance',
      by_name: 'container_id integer',
      by_nothing: 'id integer',
    };
    const seen = await rolledBack(app.ctx.db, async (trx) => {
      for (const [name, column] of Object.entries(newcomers))
        await sql.raw(`create table ${name} (${column})`).execute(trx);
      await sql`alter table instance no force row level security`.execute(trx);
      await sql`alter table container disable row level security`.execute(trx);
      await sql.raw(`create policy another on membership to ${MEMBER_ROLE} using (true)`).execute(trx);
      await sql.raw(`grant update on audit to ${MEMBER_ROLE}`).execute(trx);
      await sql.raw(`grant select on by_nothing to ${MEMBER_ROLE}`).execute(trx);
      await sql
        .raw(`create table a_partition partition of usage_sample_1m for values from ('2020-01-01') to ('2020-01-02')`)
        .execute(trx);
      await sql.raw(`grant select on a_partition to ${MEMBER_ROLE}`).execute(trx);
      return (await look(trx)).faults;
    });
    expect(seen.toSorted()).toEqual(
      [
        ...Object.keys(newcomers).map((name) => `${name} is in no list of isolation.ts`),
        ...Object.keys(newcomers)
          .filter((name) => name !== 'by_nothing')
          .map((name) => `${name} reaches a workspace`),
        'by_nothing may be read or written by calls: select',
        'the partition a_partition may be read or written by calls',
        'instance is without forced row-level security',
        'container is without forced row-level security',
        'membership has not the one policy for calls',
        'audit may be read or written by calls: update',
      ].toSorted(),
    );
  });

  it('apply to a role that owns nothing, bypasses nothing and inherits no other role', async () => {
    const { rows } = await sql`select rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb,
        (select count(*)::int from pg_class where relowner = r.oid) as owns,
        (select count(*)::int from pg_auth_members where member = r.oid) as belongs
      from pg_roles r where rolname = ${MEMBER_ROLE}`.execute(app.ctx.db);
    expect(rows).toEqual([
      {
        rolsuper: false,
        rolbypassrls: false,
        rolcanlogin: false,
        rolcreaterole: false,
        rolcreatedb: false,
        owns: 0,
        belongs: 0,
      },
    ]);
  });
});

describe('the rows of another workspace', () => {
  let tried = 0;
  afterAll(() => console.log(`isolation: n = ${tried} tries over ${TABLES.length} tables`));

  it.each(TABLES)('of %s cannot be read, written, taken over or handed over', async (table) => {
    const [mine, theirs] = [await rowsOf(table, alice), await rowsOf(table, bob)];
    expect(mine.length).toBeGreaterThan(0);
    expect(theirs.length).toBeGreaterThan(0);
    const within = app.ctx.within(alice.workspaceId);
    const place = sql.table(table);

    const { rows: seen } = await sql<Row>`select ctid::text as at, to_jsonb(t) as content from ${place} t`.execute(
      within,
    );
    expect(seen.map(({ at }) => at).toSorted()).toEqual(mine.map(({ at }) => at).toSorted());

    const columns = await columnsOf(table);
    const [first] = columns.filter(({ written }) => written);
    const any = sql.ref(first!.name);
    for (const { at, content } of theirs) {
      const there = sql`ctid = ${at}::tid`;
      expect(await touched(within, sql`update ${place} set ${any} = ${any} where ${there}`)).toBe(0);
      expect(await touched(within, sql`delete from ${place} where ${there}`)).toBe(0);
      expect(await refusal(within, copyOf(table, columns, content))).toBe(DENIED);
      tried += 3;
    }
    // Nor can an own row be handed over to them.
    const owner = columns.find(({ name, written }) => written && name === ownerColumn(columns));
    if (owner) {
      const given = sql`update ${place} set ${sql.ref(owner.name)} = ${theirs[0]!.content[owner.name]} where ctid = ${mine[0]!.at}::tid`;
      expect(await refusal(within, given)).toBe(REFUSED_EARLIER[table]?.given ?? DENIED);
      tried += 1;
    }
    tried += 1;
  });

  it.each(TABLES)('of %s are invisible without a workspace', async (table) => {
    const [theirs] = await rowsOf(table, bob);
    const place = sql.table(table);
    const columns = await columnsOf(table);
    expect((await sql`select 1 from ${place}`.execute(bare.db)).rows).toEqual([]);
    expect(await touched(bare.db, sql`delete from ${place}`)).toBe(0);
    expect(await refusal(bare.db, copyOf(table, columns, theirs!.content))).toBe(DENIED);
    tried += 3;
  });

  it.each(TABLES)('of %s fail a query of a call that is made in no workspace', async (table) => {
    const reading = refusal(app.ctx.within(null), sql`select 1 from ${sql.table(table)}`);
    // Such calls own only their idempotency keys.
    expect(await reading).toBe(table === 'idempotency' ? null : DENIED);
    tried += 1;
  });

  it('cannot be referenced by own rows: no container on the server of another workspace', async () => {
    const [server] = await rowsOf('instance', bob);
    const [container] = await rowsOf('container', alice);
    const content = { ...container!.content, id: 999_999_901, slug: 'hanging', instance_id: server!.content.id };
    const made = copyOf('container', await columnsOf('container'), content);
    expect(await refusal(app.ctx.within(alice.workspaceId), made)).toBe(DENIED);
  });
});

interface Row {
  at: string;
  content: Record<string, unknown>;
}

/** The workspace of a row, determined independently of the policies. */
const OWNERS: Record<string, string> = {
  workspace: 't.id',
  posting: '(select client_id from journal where id = t.journal_id)',
  audit_head: 't.chain',
  audit_actor: 't.chain',
  task_run: '(select workspace_id from task where id = t.task_id)',
};

/** Columns that refer to a workspace through another row. */
const PARENTS: Record<string, string> = {
  project_id: 'workspace_id from project',
  instance_id: 'workspace_id from instance',
  container_id: 'workspace_id from container',
  segment_id: 'client_id from segment',
  bucket_id: 'workspace_id from s3_bucket',
  storage_id: 'workspace_id from storage',
  task_id: 'workspace_id from task',
  upload_id:
    'workspace_id from (select u.id, b.workspace_id from s3_upload u join s3_bucket b on b.id = u.bucket_id) as u',
};

async function rowsOf(table: string, { workspaceId }: Person): Promise<Row[]> {
  const names = (await columnsOf(table)).map(({ name }) => name);
  const parent = Object.keys(PARENTS).find((column) => names.includes(column));
  const owner =
    OWNERS[table] ??
    ['workspace_id', 'client_id'].filter((column) => names.includes(column)).map((column) => `t.${column}`)[0] ??
    `(select ${PARENTS[parent!]} where id = t.${parent})`;
  const { rows } = await sql<Row>`select ctid::text as at, to_jsonb(t) as content from ${sql.table(table)} t
    where ${sql.raw(owner)} = ${workspaceId}`.execute(app.ctx.db);
  return rows;
}

const ownerColumn = (columns: readonly { name: string }[]): string | undefined =>
  ['workspace_id', 'client_id', 'chain', ...Object.keys(PARENTS)].find((name) =>
    columns.some((column) => column.name === name),
  );

async function columnsOf(table: string): Promise<{ name: string; written: boolean }[]> {
  const { rows } = await sql<{ name: string; written: boolean }>`
    select attname as name, attidentity = '' and attgenerated = '' as written from pg_attribute
    where attrelid = ${`public.${table}`}::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`.execute(
    app.ctx.db,
  );
  return rows;
}

function copyOf(table: string, columns: readonly { name: string }[], content: object) {
  const names = sql.join(columns.map(({ name }) => sql.ref(name)));
  return sql`insert into ${sql.table(table)} (${names}) overriding system value
    select ${names} from jsonb_populate_record(null::${sql.table(table)}, ${JSON.stringify({ ...content, ...FRESH[table] })}::jsonb)`;
}

type Statement = ReturnType<typeof sql>;

/** How many rows a statement would change; none without the privilege. */
async function touched(db: Db, statement: Statement): Promise<number> {
  try {
    return await rolledBack(db, async (trx) => Number((await statement.execute(trx)).numAffectedRows ?? 0n));
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === DENIED) return 0;
    throw error;
  }
}

/** The error code of a refused statement. */
async function refusal(db: Db, statement: Statement): Promise<string | null> {
  try {
    await rolledBack(db, (trx) => statement.execute(trx));
    return null;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return `${error.code}`;
  }
}

class Undone extends Error {}

async function rolledBack<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  let answer: T | undefined;
  try {
    await db.transaction().execute(async (trx) => {
      answer = await work(trx);
      throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
  return answer as T;
}

/** Contradictions between the catalogue and the lists of isolation.ts. */
async function look(db: Db): Promise<{ tables: string[]; faults: string[] }> {
  const { rows } = await sql<{
    name: string;
    isForced: boolean;
    forCalls: string[];
    columns: string[];
    targets: string[];
    may: string[];
    isPartition: boolean;
  }>`
    select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as "isForced",
      array(select p.polname::text from pg_policy p where p.polrelid = c.oid
        and (0::oid = any(p.polroles) or ${MEMBER_ROLE}::regrole::oid = any(p.polroles))) as "forCalls",
      array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
      array(select confrelid::regclass::text from pg_constraint where conrelid = c.oid and contype = 'f') as targets,
      array(select may from unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) may
        where has_table_privilege(${MEMBER_ROLE}, c.oid, may)) as may,
      c.relispartition as "isPartition"
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') order by 1`.execute(
    db,
  );
  const faults = rows.flatMap(({ name, isForced, forCalls, columns, targets, may, isPartition }) => {
    // Calls reach a partition through its table, whose policy then holds.
    if (isPartition) return may.length > 0 ? [`the partition ${name} may be read or written by calls`] : [];
    const lists = LISTS.filter((list) => list.includes(name)).length;
    const isIsolated = TABLES.includes(name);
    const names = ['workspace_id', 'client_id', ...TABLES.map((table) => `${table}_id`)];
    const reaches =
      columns.some((column) => names.includes(column)) || targets.some((target) => TABLES.includes(target));
    const allowed = allowedOn(name);
    const surplus = may.filter((one) => !allowed.includes(one));
    return [
      lists === 0 && `${name} is in no list of isolation.ts`,
      lists > 1 && `${name} is in more than one list of isolation.ts`,
      reaches && !isIsolated && !(name in NAMES_A_WORKSPACE) && `${name} reaches a workspace`,
      isIsolated && !isForced && `${name} is without forced row-level security`,
      isIsolated && forCalls.join() !== 'of_workspace' && `${name} has not the one policy for calls`,
      surplus.length > 0 && `${name} may be read or written by calls: ${surplus.join(', ')}`,
    ].filter((fault) => fault !== false);
  });
  const absent = LISTS.flat().filter((name) => !rows.some((row) => row.name === name));
  return {
    tables: rows.map(({ name }) => name),
    faults: [...faults, ...absent.map((name) => `there is no table ${name}`)],
  };
}

function allowedOn(name: string): readonly string[] {
  const everything = ['select', 'insert', 'update', 'delete'];
  if (OF_A_PERSON.some((table) => table === name)) return everything;
  const isolated = Object.entries<Isolated>(OF_A_WORKSPACE).find(([table]) => table === name);
  if (isolated) return isolated[1].may ?? everything;
  return Object.entries(OF_THE_PLATFORM).find(([table]) => table === name)?.[1].may ?? [];
}

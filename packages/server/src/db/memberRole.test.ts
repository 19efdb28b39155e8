import { randomBytes } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../testing/app.ts';
import { createTestDatabase } from '../testing/database.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { ensureMemberRole, MEMBER_ROLE, memberUrl, requireMemberRole } from './memberRole.ts';
import { migrate } from './migrate.ts';

const AT_ONCE = 8;

/** Unique names, as the cluster is shared with other tests. */
describe('the member role', () => {
  const tail = randomBytes(5).toString('hex');
  const owner = `stagi_owner_${tail}`;
  const password = randomBytes(9).toString('hex');
  let template: Awaited<ReturnType<typeof createTestDatabase>>;
  let admin: pg.Client;
  beforeAll(async () => {
    template = await createTestDatabase();
    admin = await connect(template.url);
  });
  afterAll(async () => {
    await admin?.query(`drop database if exists ${owner} with (force)`);
    await admin?.query(`drop role if exists ${owner}`);
    await admin?.end();
    await template?.drop();
  });

  it('is created once when many start at the same moment', async () => {
    const role = `stagi_role_${tail}`;
    const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => connect(template.url)));
    try {
      await Promise.all(clients.map((client) => ensureMemberRole(client, role)));
      const { rows } = await admin.query('select rolsuper, rolcanlogin from pg_roles where rolname = $1', [role]);
      expect(rows).toEqual([{ rolsuper: false, rolcanlogin: false }]);
      await ensureMemberRole(admin, role);
    } finally {
      await Promise.all(clients.map((client) => client.end()));
      await admin.query(`drop role if exists ${role}`);
    }
  });

  it('is refused when it could bypass row-level security', async () => {
    const role = `stagi_mighty_${tail}`;
    await admin.query(`create role ${role} bypassrls`);
    try {
      await expect(ensureMemberRole(admin, role)).rejects.toThrow(/neither a superuser nor one that bypasses/);
    } finally {
      await admin.query(`drop role ${role}`);
    }
  });

  it('is required: a proxy that drops the connection option is detected', async () => {
    const pool = new pg.Pool({ connectionString: template.url, max: 1 });
    await expect(requireMemberRole(pool)).rejects.toThrow(`do not become ${MEMBER_ROLE}`);
    await pool.end();
    const member = new pg.Pool({ connectionString: memberUrl(withOptions(template.url)), max: 1 });
    await requireMemberRole(member);
    // The options in the operator's URL are kept.
    expect((await member.query('show work_mem')).rows).toEqual([{ work_mem: '5MB' }]);
    await member.end();
  });

  it('works for a database user who is only the owner of the database', async () => {
    await admin.query(`create role ${owner} login password '${password}'`);
    await admin.query(`create database ${owner} owner ${owner}`);
    const url = new URL(template.url);
    Object.assign(url, { pathname: `/${owner}`, username: owner, password });
    await expect(migrate(url.href)).rejects.toThrow(`Let an administrator run: grant ${MEMBER_ROLE} to ${owner};`);
    await admin.query(`grant ${MEMBER_ROLE} to ${owner}`);

    const app = await startTestApp({ DATABASE_URL: url.href });
    try {
      const [alice, bob] = [await app.signUp('Alice'), await app.signUp('Bob')];
      const server = await aRentedInstance(app.ctx, alice);
      const list = async (person: typeof alice) => (await person.client(api.instances.list, {})).entities;
      expect((await list(alice)).map(({ id }) => id)).toEqual([server]);
      expect(await list(bob)).toEqual([]);
      await alice.client(api.clients.edit, { newName: 'Lab' });
      expect(await alice.client(api.audit.verify, {})).toMatchObject({ isSuccess: true });
      const forgetful = await app.ctx.within(bob.workspaceId).selectFrom('instance').select('id').execute();
      expect(forgetful).toEqual([]);
      expect(await app.ctx.db.selectFrom('instance').select('id').execute()).toEqual([{ id: server }]);
    } finally {
      await app.close();
    }
  });
});

function withOptions(url: string): string {
  const changed = new URL(url);
  changed.searchParams.set('options', '-c work_mem=5MB');
  return changed.href;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

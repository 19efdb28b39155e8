import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { Permission } from '@stagi/contract/permissions.ts';
import { REGISTRIES_MAX, type RegistryCredential } from '@stagi/contract/registries.ts';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { retryPulls } from '../containers/retryPulls.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { notFound, refused } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import { sealPlace } from './pullAuth.ts';
import { listCredentials } from './queries.ts';

type Caller = Pick<Context, 'secrets'> & {
  db: Db;
  workspace: { id: number; permissions: readonly Permission[] };
  user: { id: number };
};

/**
 * In place of an earlier one for the same registry. It is for the servers that there are now and that its giver may
 * manage, and for those that are rented later; an own server that is attached later would hand it to whoever has that.
 */
export function addCredential(
  ctx: Caller,
  { host, username, secret }: ParsedInputOf<typeof api.registries.add>,
): Promise<RegistryCredential> {
  return inTransaction(ctx.db, async (trx) => {
    // One at a time, so that the limit holds.
    await sql`select pg_advisory_xact_lock(hashtextextended('registry_credential', ${ctx.workspace.id}))`.execute(trx);
    const known = await listCredentials(trx, ctx.workspace.id);
    if (known.length >= REGISTRIES_MAX && !known.some((one) => one.host === host))
      throw refused(text('A workspace has credentials for at most {{most}} registries'), { most: REGISTRIES_MAX });
    const values = {
      ...(await serversFor(trx, ctx.workspace)),
      username,
      secret_sealed: ctx.secrets.seal(secret, sealPlace(ctx.workspace.id, host)),
      created_by: ctx.user.id,
    };
    await trx
      .insertInto('registry_credential')
      .values({ workspace_id: ctx.workspace.id, host, ...values })
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'host']).doUpdateSet({ ...values, created_at: sql<Date>`now()` }),
      )
      .execute();
    await retryPulls(trx, ctx.workspace.id, host);
    const [stored] = await listCredentials(trx, ctx.workspace.id, host);
    if (!stored) throw new Error('a credential that was stored is not there');
    return stored;
  });
}

async function serversFor(trx: Db, { id, permissions }: Caller['workspace']) {
  const own = permissions.includes('SELFHOSTED_INSTANCE_MANAGEMENT')
    ? await trx
        .selectFrom('instance')
        .select('id')
        .where('workspace_id', '=', id)
        .where('kind', '=', 'self-hosted')
        .where('closed_at', 'is', null)
        .orderBy('id')
        .execute()
    : [];
  return {
    for_rented: permissions.includes('INSTANCE_RENTED_MANAGEMENT'),
    own_servers: own.map((server) => server.id),
  };
}

export function removeCredential(ctx: { db: Db; workspace: { id: number } }, id: number): Promise<void> {
  return inTransaction(ctx.db, async (trx) => {
    const gone = await trx
      .deleteFrom('registry_credential')
      .where(isId('id', id))
      .where('workspace_id', '=', ctx.workspace.id)
      .returning('host')
      .executeTakeFirst();
    if (!gone) throw notFound();
    await retryPulls(trx, ctx.workspace.id, gone.host);
  });
}

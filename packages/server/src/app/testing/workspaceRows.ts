import { randomUUID } from 'node:crypto';
import { api } from '@stagi/contract/api.ts';
import { asMicro } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import { accountOf } from '../../billing/accounts.ts';
import { post } from '../../billing/ledger.ts';
import type { TestApp } from '../../testing/app.ts';
import {
  aContainer,
  aContainerTemplate,
  anApiToken,
  anSshKey,
  aProject,
  aRegistryCredential,
  aSelfHostedServer,
  aStorage,
} from '../../testing/factories.ts';
import { aModelEndpoint } from '../../testing/modelFactories.ts';
import type { Person } from '../../testing/person.ts';
import { aTask } from '../../testing/taskFactories.ts';
import { makePartitions } from '../../usageSamples/partitions.ts';

/** At least one row of a person's workspace in every table of `OF_A_WORKSPACE`. */
export async function rowsInEveryTable(app: TestApp, owner: Person): Promise<void> {
  const { db } = app.ctx;
  await owner.client(api.auth.streamTicket, {});
  await owner.client(api.sshKeys.generate, { title: 'laptop' });
  await anApiToken(app.ctx, owner);
  const server = await aSelfHostedServer(app.ctx, owner);
  const container = await aContainer(app.ctx, owner, server);
  await aContainerTemplate(app.ctx, owner);
  await aModelEndpoint(app.ctx, owner, { instanceId: server, containerId: container });
  await aRegistryCredential(app.ctx, owner);
  const key = await anSshKey(app.ctx, owner);
  const amount = asMicro(1_000_000n);
  const journal = await db.transaction().execute((trx) =>
    post(trx, 'promo', `rows:${owner.workspaceId}`, owner.workspaceId, [
      { account: 'promo', amount: asMicro(-amount) },
      { account: accountOf(owner.workspaceId, 'credit'), amount },
    ]),
  );
  await sql`with billed as (insert into segment (client_id, kind, resource_id, rate, price, started_at, metered_until, confirmed)
      values (${owner.workspaceId}, 'instance', ${server}, 'running', 1, now(), now(), true) returning id),
    charge as (insert into segment_charge (segment_id, until, journal_id, credit, card, onchain, uncollected, charged_total, uncollected_total)
      select id, now(), ${journal}, 0, 0, 0, 0, 0, 0 from billed)
    insert into segment_refund (segment_id, at, journal_id, credit, card, onchain, forgiven)
    select id, now(), ${journal}, 0, 0, 0, 0 from billed`.execute(db);
  await sql`insert into usage_day (client_id, day, kind, resource_id, last_at) values (${owner.workspaceId}, now(), 'instance', ${server}, now())`.execute(
    db,
  );
  await sql`insert into workspace_meter (client_id, metered_at) values (${owner.workspaceId}, now()) on conflict do nothing`.execute(
    db,
  );
  await sql`insert into hold (workspace_id, amount, journal_id) values (${owner.workspaceId}, 1, ${journal})`.execute(
    db,
  );
  await sql`with code as (insert into promo_code (code, amount, uses_max, expires_at)
      values (${`ROWS-${owner.workspaceId}`}, 1, 1, now()) returning id)
    insert into promo_activation (promo_code_id, activated_by, person_mark, workspace_id, journal_id)
    select id, ${owner.userId}, '', ${owner.workspaceId}, ${journal} from code`.execute(db);
  await sql`insert into instance_ssh_key (instance_id, ssh_key_id) values (${server}, ${key})`.execute(db);
  await sql`insert into instance_activity (instance_id, kind) values (${server}, 'status')`.execute(db);
  await sql`insert into provider_op (id, instance_id, kind, gen) values (${randomUUID()}, ${server}, 'create', 1)`.execute(
    db,
  );
  await sql`insert into daemon_command (id, instance_id, body, expires_at) values (${randomUUID()}, ${server}, '{}', now())`.execute(
    db,
  );
  await sql`insert into container_code (hash, container_id, port, session_id, path, expires_at)
    select sha256(id::text::bytea), ${container}, 8080, id, '/', now() from session where user_id = ${owner.userId} limit 1`.execute(
    db,
  );
  await sql`insert into invite (workspace_id, created_by, role, hash, uses, expires_at)
    values (${owner.workspaceId}, ${owner.userId}, 'Guest', sha256(${`rows ${owner.workspaceId}`}::text::bytea), 1, now())`.execute(
    db,
  );
  await sql`insert into log_stream (container_id, epoch, owner_epoch) values (${container}, 'e', 1)`.execute(db);
  await sql`insert into log_line (container_id, seq, time_ns, stderr, text) values (${container}, 1, 1, false, 'line')`.execute(
    db,
  );
  await sql`insert into log_head (container_id, last_seq) values (${container}, 1)`.execute(db);
  await sql`insert into log_gap (container_id, after_seq, reason) values (${container}, 1, 'lost')`.execute(db);
  await sql`insert into container_run (container_id, number, started_at, from_ns) values (${container}, 1, now(), 1)`.execute(
    db,
  );
  await makePartitions(db, new Date());
  for (const table of ['usage_sample_15s', 'usage_sample_1m', 'usage_sample_15m'])
    await sql`insert into ${sql.table(table)} (instance_id, container_id, gpu, at, samples)
      values (${server}, ${container}, -1, now(), 1)`.execute(db);
  await storageRows(app, owner);
  await projectRows(app, owner, server);
  await taskRows(app, owner, container);
  await terminalRows(app, owner, server, container);
  await sql`with copy as (insert into log_copy (container_id, storage_id, finished_at)
      select ${container}, max(id), now() from storage where workspace_id = ${owner.workspaceId} returning container_id, storage_id)
    insert into log_chunk (container_id, storage_id, first_seq, last_seq, key, state, lines)
    select container_id, storage_id, 1, 1, 'k', 'done', 1 from copy`.execute(db);
}

async function terminalRows({ ctx }: TestApp, owner: Person, server: number, container: number): Promise<void> {
  await sql`insert into terminal_session (id, workspace_id, instance_id, container_id, user_id)
    values (gen_random_uuid(), ${owner.workspaceId}, ${server}, ${container}, ${owner.userId})`.execute(ctx.db);
}

async function projectRows({ ctx }: TestApp, owner: Person, server: number): Promise<void> {
  const id = await aProject(ctx, owner);
  await sql`with import as (insert into project_import (project_id, url, status, next_at) values (${id}, 'u', 'done', null)),
    activity as (insert into project_activity (project_id, kind) values (${id}, 'created'))
    insert into project_instance (project_id, instance_id) values (${id}, ${server})`.execute(ctx.db);
}

async function taskRows({ ctx }: TestApp, owner: Person, container: number): Promise<void> {
  const id = await aTask(ctx, owner);
  await sql`update task_run set container_id = ${container} where task_id = ${id}`.execute(ctx.db);
  await sql`with event as (insert into task_event (task_id, status) values (${id}, 'done')),
    favorite as (insert into task_favorite (task_id, user_id) values (${id}, ${owner.userId}))
    insert into task_schedule (workspace_id, project_id, title, cron, time_zone, fields, instance_id, storage_id, env_sealed)
    select workspace_id, project_id, 'rows', '0 2 * * *', 'UTC', '{}', instance_id, storage_id, '' from task where id = ${id}`.execute(
    ctx.db,
  );
}

async function storageRows({ ctx }: TestApp, owner: Person): Promise<void> {
  const id = await aStorage(ctx, owner);
  await sql`with held as (select bucket_id from storage where id = ${id}),
    key as (insert into s3_key (access_key_id, secret_sealed, purpose, workspace_id, bucket_id, title, mode)
      select 'rows' || bucket_id, '', 'share', ${owner.workspaceId}, bucket_id, 'rows', 'read-only' from held returning id),
    share as (insert into storage_share (storage_id, key_id, token_hash, object_key)
      select ${id}, id, sha256(id::text::bytea), 'k' from key),
    sample as (insert into storage_sample (storage_id, at, used_bytes, object_count) values (${id}, now(), 0, 0)),
    blob as (insert into s3_blob (id, bucket_id, location, state)
      select gen_random_uuid(), bucket_id, 'local', 'stored' from held returning id, bucket_id),
    object as (insert into s3_object (bucket_id, key, size, etag, blobs, blob_sizes)
      select bucket_id, 'k', 0, 'e', array[id], array[0] from blob returning counted),
    upload as (insert into s3_upload (id, bucket_id, key) select gen_random_uuid(), bucket_id, 'u' from held
      returning id, counted),
    part as (insert into s3_part (upload_id, number, blob_id, size, etag)
      select upload.id, 1, blob.id, 0, 'e' from upload, blob returning counted)
    update s3_bucket set used_bytes = object.counted + upload.counted + part.counted
      from held, object, upload, part where s3_bucket.id = held.bucket_id`.execute(ctx.db);
}

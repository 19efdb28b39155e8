import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Permission, Role } from '@stagi/contract/permissions.ts';
import type { ImportStatus, ProjectStatus } from '@stagi/contract/projectRules.ts';
import { MICRO_PER_GB_MONTH, type StorageStatus } from '@stagi/contract/storageRules.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import { formatApiToken, hashTokenSecret, newTokenSecret } from '../secrets/apiTokenFormat.ts';
import type { Person } from './person.ts';

let made = 0;
/** Numbers make names unique. */
export const next = (): number => {
  made += 1;
  return made;
};

/** These factories insert rows as background; what a test is about goes through the typed client. */
export async function anSshKey(ctx: Context, owner: Person): Promise<number> {
  const row = await ctx.db
    .insertInto('ssh_key')
    .values({
      user_id: owner.userId,
      title: 'laptop',
      type: 'ssh-ed25519',
      public_key: `ssh-ed25519 AAAA${next()}`,
      fingerprint: `SHA256:${randomUUID()}`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function anApiToken(
  ctx: Context,
  owner: Person,
  given: { permissions?: Permission[]; expiresAt?: Date } = {},
): Promise<{ id: number; token: string }> {
  const secret = newTokenSecret();
  const { id } = await ctx.db
    .insertInto('api_token')
    .values({
      user_id: owner.userId,
      workspace_id: owner.workspaceId,
      description: `token-${next()}`,
      hash: hashTokenSecret(secret),
      permissions: given.permissions ?? null,
      expires_at: given.expiresAt ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, token: formatApiToken({ id, secret }) };
}

/** A join link and its code, by default for one person. */
export async function anInvite(
  ctx: Context,
  inviter: Person,
  given: { role?: Role; uses?: number; expiresAt?: Date } = {},
): Promise<{ id: number; code: string }> {
  const code = randomBytes(32).toString('base64url');
  const { id } = await ctx.db
    .insertInto('invite')
    .values({
      workspace_id: inviter.workspaceId,
      created_by: inviter.userId,
      role: given.role ?? 'Guest',
      hash: createHash('sha256').update(code).digest(),
      uses: given.uses ?? 1,
      expires_at: given.expiresAt ?? new Date(Date.now() + 86_400_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, code };
}

export async function aPasskey(ctx: Context, owner: Person): Promise<number> {
  const row = await ctx.db
    .insertInto('passkey')
    .values({
      user_id: owner.userId,
      credential_id: randomUUID(),
      public_key: Buffer.from([1]),
      counter: 0n,
      name: 'Canary key',
      synced: false,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Marks all sessions of a person as just stepped up. */
export async function markSteppedUp(ctx: Context, person: Person): Promise<void> {
  await ctx.db
    .updateTable('session')
    .set({ stepped_up_at: sql<Date>`now()` })
    .where('user_id', '=', person.userId)
    .execute();
}

/** Makes a person an operator, as the command line does. */
export async function makeOperator(ctx: Context, person: Person): Promise<void> {
  await ctx.db.updateTable('app_user').set({ is_employee: true }).where('id', '=', person.userId).execute();
}

export async function aRentedInstance(ctx: Context, owner: Person, status = 'online'): Promise<number> {
  const n = next();
  const row = await ctx.db
    .insertInto('instance')
    .values({
      workspace_id: owner.workspaceId,
      kind: 'rented',
      slug: `server-${n}`,
      title: `Server ${n}`,
      created_by: owner.userId,
      status,
      provider: 'nowhere',
      offer: JSON.stringify({
        id: 'small',
        region: 'here',
        cpu: { name: 'CPU', cores: 4 },
        ramGb: 8,
        gpu: null,
        disk: { type: 'ssd', sizeGb: 20 },
        canStop: true,
      }),
      price_per_hour: 70_000n,
      stopped_price_per_hour: 0n,
      host_username: 'root',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function aSelfHostedServer(ctx: Context, owner: Person, status = 'online'): Promise<number> {
  const n = next();
  const row = await ctx.db
    .insertInto('instance')
    .values({
      workspace_id: owner.workspaceId,
      kind: 'self-hosted',
      slug: `own-${n}`,
      title: `Own ${n}`,
      created_by: owner.userId,
      status,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await ctx.db.insertInto('daemon_node').values({ instance_id: row.id }).execute();
  return row.id;
}

/** A key of a person on the bucket of a storage. */
export async function aStorageKey(ctx: Context, owner: Person, storageId: number): Promise<number> {
  const { bucket_id: bucketId } = await ctx.db
    .selectFrom('storage')
    .select('bucket_id')
    .where('id', '=', storageId)
    .executeTakeFirstOrThrow();
  const key = await ctx.db
    .insertInto('s3_key')
    .values({
      access_key_id: `STG${next()}${Date.now()}`,
      secret_sealed: '',
      purpose: 'person',
      workspace_id: owner.workspaceId,
      bucket_id: bucketId,
      title: 'key',
      mode: 'read-write',
      prefix: '',
      made_by: owner.userId,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return key.id;
}

/** A link to the object `k` that nobody can open: its token is not known. */
export async function aShareLink(ctx: Context, owner: Person, storageId: number): Promise<number> {
  const key_id = await aStorageKey(ctx, owner, storageId);
  await sql`update s3_key set purpose = 'share', mode = 'read-only', expires_at = now() + interval '1 day'
    where id = ${key_id}`.execute(ctx.db);
  const row = await ctx.db
    .insertInto('storage_share')
    .values({ storage_id: storageId, key_id, token_hash: randomBytes(32), object_key: Buffer.from('k') })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** A multipart upload of the object `k` that nobody has completed. */
export async function anOpenUpload(ctx: Context, storageId: number): Promise<string> {
  const id = randomUUID();
  await sql`with made as (insert into s3_upload (id, bucket_id, key)
      select ${id}, bucket_id, 'k' from storage where id = ${storageId} returning bucket_id, counted)
    update s3_bucket set used_bytes = used_bytes + counted from made where id = bucket_id`.execute(ctx.db);
  return id;
}

/** A rented storage with its bucket. */
export async function aStorage(ctx: Context, owner: Person, status: StorageStatus = 'rented'): Promise<number> {
  const slug = `storage-${next()}-${Date.now()}`;
  const bucket = await ctx.db
    .insertInto('s3_bucket')
    .values({ name: slug, workspace_id: owner.workspaceId, location: 'local', quota_bytes: 10n ** 10n })
    .returning('id')
    .executeTakeFirstOrThrow();
  const row = await ctx.db
    .insertInto('storage')
    .values({
      workspace_id: owner.workspaceId,
      kind: 'storage',
      slug,
      title: `Storage ${slug}`,
      size_gb: 10,
      location: 'local',
      price_per_month: 10n * MICRO_PER_GB_MONTH,
      bucket_id: bucket.id,
      created_by: owner.userId,
      status,
      next_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** A project whose repository was never made: for tests that do not run git. */
export async function aProject(ctx: Context, owner: Person, status: ProjectStatus = 'active'): Promise<number> {
  const slug = `project-${next()}-${Date.now()}`;
  const row = await ctx.db
    .insertInto('project')
    .values({
      workspace_id: owner.workspaceId,
      slug,
      title: `Project ${slug}`,
      description: `About ${slug}`,
      created_by: owner.userId,
      status,
      archived_at: status === 'archived' ? new Date() : null,
      next_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** An import that no worker looks at. */
export async function anImport(ctx: Context, projectId: number, status: ImportStatus = 'queued'): Promise<number> {
  const row = await ctx.db
    .insertInto('project_import')
    .values({ project_id: projectId, url: 'https://git.example/a.git', status, next_at: null })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function aContainer(
  ctx: Context,
  owner: Person,
  instanceId: number,
  status: 'running' | 'stopped' = 'running',
): Promise<number> {
  const slug = `container-${next()}-${Date.now()}`;
  const row = await ctx.db
    .insertInto('container')
    .values({
      workspace_id: owner.workspaceId,
      instance_id: instanceId,
      slug,
      title: slug,
      created_by: owner.userId,
      status,
      desired: status,
      image: 'busybox',
      cpus: 1,
      memory_gb: null,
      env_sealed: ctx.secrets.seal('[]', `container|env|${slug}`),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function aContainerTemplate(ctx: Context, owner: Person): Promise<number> {
  const row = await ctx.db
    .insertInto('container_template')
    .values({
      workspace_id: owner.workspaceId,
      title: `Template ${next()}`,
      description: 'x',
      fields: JSON.stringify({
        dockerImage: 'busybox',
        command: 'true',
        env: [{ name: 'NAME', value: null }],
        cpus: 1,
        memoryGb: null,
        gpuCount: 0,
        portMappings: [],
        directoryMappings: [{ host: '/data/x', container: '/x' }],
        restartPolicy: 'no',
      }),
      created_by: owner.userId,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function aRegistryCredential(ctx: Context, owner: Person): Promise<number> {
  const row = await ctx.db
    .insertInto('registry_credential')
    .values({
      workspace_id: owner.workspaceId,
      host: `registry-${next()}.example`,
      username: 'x',
      secret_sealed: '',
      created_by: owner.userId,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** An app that the person has authorized: a session with the app's id. */
export async function anAuthorizedApp(ctx: Context, owner: Person): Promise<string> {
  const id = randomUUID();
  await ctx.db
    .insertInto('session')
    .values({
      id,
      user_id: owner.userId,
      auth_type: 'email',
      app_id: 'stagi-cli',
      expires_at: new Date(Date.now() + 86_400_000),
    })
    .execute();
  return id;
}

export async function aPromoCode(
  ctx: Context,
  given: { code?: string; micro?: bigint; uses?: number; expiresAt?: Date } = {},
): Promise<{ id: number; code: string }> {
  return ctx.db
    .insertInto('promo_code')
    .values({
      code: given.code ?? `CANARY-${next()}`,
      amount: given.micro ?? 5_000_000n,
      uses_max: given.uses ?? 1,
      expires_at: given.expiresAt ?? new Date(Date.now() + 86_400_000),
    })
    .returning(['id', 'code'])
    .executeTakeFirstOrThrow();
}

/** A sign-up link and its code, by default for one person. */
export async function aSignUpLink(
  ctx: Context,
  given: { uses?: number; expiresAt?: Date; note?: string } = {},
): Promise<{ id: number; code: string }> {
  const code = randomBytes(32).toString('base64url');
  const { id } = await ctx.db
    .insertInto('sign_up_link')
    .values({
      hash: createHash('sha256').update(code).digest(),
      note: given.note ?? `Canary link ${next()}`,
      uses_max: given.uses ?? 1,
      expires_at: given.expiresAt ?? new Date(Date.now() + 86_400_000),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, code };
}

/** The newest transaction of a person's workspace: by default the starter credit. */
export async function aTransaction(ctx: Context, owner: Person): Promise<number> {
  const { id } = await ctx.db
    .selectFrom('billing_transaction')
    .select('id')
    .where('workspace_id', '=', owner.workspaceId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  return Number(id);
}

export async function aStray(ctx: Context): Promise<number> {
  const n = next();
  const row = await ctx.db
    .insertInto('stray')
    .values({
      provider: 'nowhere',
      ref: `stray-${n}`,
      name: `Stray Canary ${n}`,
      tags: '{}',
      state: 'running',
      reason: 'unknown',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

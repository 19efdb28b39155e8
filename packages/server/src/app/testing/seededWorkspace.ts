import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { recordAct } from '../../audit/record.ts';
import type { Context } from '../../context.ts';
import { keepFile, withStagedFiles } from '../../files/keep.ts';
import { createRepository, repositoryDir } from '../../git/repository.ts';
import { importCommits } from '../../git/testing/fastImport.ts';
import type { TestApp } from '../../testing/app.ts';
import { FACTS } from '../../testing/daemon.ts';
import {
  aContainer,
  aContainerTemplate,
  anApiToken,
  anAuthorizedApp,
  anInvite,
  anOpenUpload,
  anSshKey,
  aPasskey,
  aProject,
  aPromoCode,
  aRegistryCredential,
  aRentedInstance,
  aSelfHostedServer,
  aShareLink,
  aSignUpLink,
  aStorage,
  aStorageKey,
  aStray,
  aTransaction,
} from '../../testing/factories.ts';
import { aModelEndpoint } from '../../testing/modelFactories.ts';
import type { Person } from '../../testing/person.ts';
import { aSchedule, aTask } from '../../testing/taskFactories.ts';
import { canary, type PlantedCanaries, plantCanaries, type Whose } from './canaries.ts';
import type { Ids } from './sample.ts';

/** A workspace with one entity of each kind; every text in it is a canary. */
export interface SeededWorkspace {
  owner: Person;
  ids: Ids;
  sown: PlantedCanaries;
}

/** Seed one workspace after the other: every text in the database without a canary gets one of this workspace. */
export async function seedWorkspace(app: TestApp, whose: Whose): Promise<SeededWorkspace> {
  const owner = await app.signUp();
  const member = await app.signUp();
  await aMember(app, member, owner.workspaceId, 'Guest');
  const ids = await createEntities(app, owner, member);
  await createRelatedRows(app, owner, ids);
  const sown = await plantCanaries(app.databaseUrl, whose);
  await fillRepository(app, ids.project, whose);
  await createAuditEntries(app, owner, whose);
  const { email } = await app.ctx.db
    .selectFrom('app_user')
    .select('email')
    .where('id', '=', owner.userId)
    .executeTakeFirstOrThrow();
  const { slug: containerSlug } = await app.ctx.db
    .selectFrom('container')
    .select('slug')
    .where('id', '=', ids.container)
    .executeTakeFirstOrThrow();
  return { owner, ids: { ...ids, email, containerSlug }, sown };
}

/** One entity of each kind that samples refer to. */
async function createEntities({ ctx }: TestApp, owner: Person, member: Person): Promise<Ids> {
  const instance = await aRentedInstance(ctx, owner);
  const storage = await aStorage(ctx, owner);
  const project = await aProject(ctx, owner);
  const container = await aContainer(ctx, owner, instance);
  await joinProject(ctx, { project, instance, container });
  return {
    instance,
    own: await aSelfHostedServer(ctx, owner),
    container,
    project,
    attached: instance,
    sshKey: await anSshKey(ctx, owner),
    stray: await aStray(ctx),
    transaction: await aTransaction(ctx, owner),
    promoCode: (await aPromoCode(ctx)).id,
    signUpLink: (await aSignUpLink(ctx)).id,
    session: await anAuthorizedApp(ctx, owner),
    apiToken: (await anApiToken(ctx, owner)).id,
    consent: await anAuthorizedApp(ctx, owner),
    member: member.userId,
    passkey: await aPasskey(ctx, owner),
    email: owner.email,
    invite: (await anInvite(ctx, owner)).id,
    storage,
    storageKey: await aStorageKey(ctx, owner, storage),
    shareLink: await aShareLink(ctx, owner, storage),
    upload: await anOpenUpload(ctx, storage),
    task: await aTask(ctx, owner, 'done', { project_id: project }),
    schedule: await aSchedule(ctx, owner),
    doomedSchedule: await aSchedule(ctx, owner),
    containerSlug: '',
    endpoint: await aModelEndpoint(ctx, owner, { instanceId: instance, containerId: container }),
    doomedEndpoint: await aModelEndpoint(ctx, owner, {
      instanceId: instance,
      containerId: await aContainer(ctx, owner, instance),
    }),
    template: await aContainerTemplate(ctx, owner),
    registry: await aRegistryCredential(ctx, owner),
  };
}

/** Code with a canary in each text of it, on the default branch. */
async function fillRepository({ ctx }: TestApp, project: number, whose: Whose): Promise<void> {
  const { repository, default_branch: branch } = await ctx.db
    .selectFrom('project')
    .select(['repository', 'default_branch'])
    .where('id', '=', project)
    .executeTakeFirstOrThrow();
  await createRepository(ctx.config, repository);
  const word = canary(whose, 'code');
  await importCommits(repositoryDir(ctx.config, repository), [
    { message: `${word}\n\n${word}`, author: word, branch, files: { 'README.md': word, [word]: word } },
  ]);
}

/** Everything that a project may have. */
async function joinProject(
  { db }: Context,
  { project, instance, container }: { project: number; instance: number; container: number },
): Promise<void> {
  await sql`update container set project_id = ${project} where id = ${container}`.execute(db);
  await sql`insert into project_instance (project_id, instance_id) values (${project}, ${instance})`.execute(db);
  await sql`insert into project_import (project_id, url, status, next_at, error)
    values (${project}, 'x', 'failed', null, 'x')`.execute(db);
  await sql`insert into project_activity (project_id, kind, instance_id, detail)
    values (${project}, 'push', ${instance}, '{"url": "x", "error": "x"}')`.execute(db);
}

/** Rows that calls read only together with another entity. */
async function createRelatedRows(app: TestApp, owner: Person, ids: Ids): Promise<void> {
  const { db } = app.ctx;
  await db
    .insertInto('daemon_node')
    .values({ instance_id: ids.instance })
    .onConflict((c) => c.doNothing())
    .execute();
  await db
    .updateTable('daemon_node')
    .set({ facts: JSON.stringify(FACTS), version: '1' })
    .execute();
  await db.insertInto('instance_ssh_key').values({ instance_id: ids.instance, ssh_key_id: ids.sshKey }).execute();
  for (const instance_id of [ids.instance, ids.own])
    await db
      .insertInto('instance_activity')
      .values({ instance_id, kind: 'rented', actor_id: owner.userId, from_status: null, to_status: null, detail: 'x' })
      .execute();
  await db.insertInto('log_head').values({ container_id: ids.container, last_seq: 1n }).execute();
  await db
    .insertInto('log_line')
    .values({ container_id: ids.container, seq: 1n, time_ns: 1n, stderr: false, text: 'x' })
    .execute();
  await db
    .insertInto('external_identity')
    .values({
      issuer: 'https://idp.example',
      subject: randomUUID(),
      provider: 'github',
      user_id: owner.userId,
      email: 'x',
    })
    .execute();
  const { id } = await db
    .insertInto('feedback')
    .values({
      user_id: owner.userId,
      topic: 'Ask a question',
      subject: 'x',
      description: 'x',
      contact_email: null,
      user_agent: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('feedback_image')
    .values({
      feedback_id: id,
      position: 0,
      file_name: 'x',
      mime_type: 'image/png',
      width: 1,
      height: 1,
      file_id: await aStoredFile(app.ctx, Buffer.from([1])),
    })
    .execute();
}

async function aStoredFile(ctx: Context, content: Buffer): Promise<string> {
  return withStagedFiles(ctx, [content], async ([file]) => {
    await keepFile(ctx.db, file!);
    return file!.id;
  });
}

/** Audit entries cannot be changed later, so they are inserted with their canaries. */
async function createAuditEntries({ ctx }: TestApp, owner: Person, whose: Whose): Promise<void> {
  const word = (): string => canary(whose, 'audit');
  await recordAct(
    ctx.db,
    {
      user: { id: owner.userId },
      credential: { kind: 'session', id: word() },
      workspace: { id: owner.workspaceId },
      ip: word(),
      userAgent: word(),
    },
    {
      action: 'client/edit',
      outcome: 'done',
      object: { type: 'client', id: word(), label: word() },
      detail: { newName: word() },
    },
  );
}

export async function aMember(
  { ctx }: TestApp,
  person: Person,
  workspace_id: number,
  role: 'Owner' | 'Admin' | 'Developer' | 'Billing' | 'Guest',
): Promise<void> {
  await ctx.db.insertInto('membership').values({ workspace_id, user_id: person.userId, role }).execute();
}

import { randomUUID } from 'node:crypto';
import { recordAct } from '../../audit/record.ts';
import type { TestApp } from '../../testing/app.ts';
import { FACTS } from '../../testing/daemon.ts';
import {
  aConsent,
  aContainer,
  anApiToken,
  anInvite,
  anOwnServer,
  anSshKey,
  aPasskey,
  aPromoCode,
  aRentedInstance,
  aStray,
  aTransaction,
} from '../../testing/factories.ts';
import type { Person } from '../../testing/person.ts';
import { canary, type Sown, sow, type Whose } from './canaries.ts';
import type { Ids } from './samples.ts';

/** Somebody's workspace with one of everything in it, each text of it a canary. */
export interface Household {
  owner: Person;
  ids: Ids;
  sown: Sown;
}

/** Furnish one after the other: every text that is none yet becomes a canary of this one. */
export async function furnish(app: TestApp, whose: Whose): Promise<Household> {
  const owner = await app.signUp();
  const member = await app.signUp();
  await aMember(app, member, owner.workspaceId, 'Guest');
  const ids = await everything(app, owner, member);
  await rowsThatNoCallNames(app, owner, ids);
  const sown = await sow(app.databaseUrl, whose);
  await entriesThatNeverChange(app, owner, whose);
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

/** One of each thing that a sample names. */
async function everything({ ctx }: TestApp, owner: Person, member: Person): Promise<Ids> {
  const instance = await aRentedInstance(ctx, owner);
  return {
    instance,
    own: await anOwnServer(ctx, owner),
    container: await aContainer(ctx, owner, instance),
    sshKey: await anSshKey(ctx, owner),
    stray: await aStray(ctx),
    transaction: await aTransaction(ctx, owner),
    promoCode: (await aPromoCode(ctx)).id,
    session: await aConsent(ctx, owner),
    apiToken: (await anApiToken(ctx, owner)).id,
    consent: await aConsent(ctx, owner),
    member: member.userId,
    passkey: await aPasskey(ctx, owner),
    email: owner.email,
    invite: (await anInvite(ctx, owner)).id,
    containerSlug: '',
  };
}

/** What is only read along with something else. */
async function rowsThatNoCallNames({ ctx }: TestApp, owner: Person, ids: Ids): Promise<void> {
  const { db } = ctx;
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
      content: Buffer.from([1]),
    })
    .execute();
}

/** The audit log takes rows and gives none back: its canaries are there from the beginning. */
async function entriesThatNeverChange({ ctx }: TestApp, owner: Person, whose: Whose): Promise<void> {
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

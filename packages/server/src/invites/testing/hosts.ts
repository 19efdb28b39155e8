import type { Role } from '@stagi/contract/permissions.ts';
import type { Plan } from '@stagi/contract/user.ts';
import { sql } from 'kysely';
import type { TestApp } from '../../testing/app.ts';
import type { Person } from '../../testing/person.ts';

/** What is said of every link that leads nowhere. */
export const OVER = 'This invitation can no longer be used. Ask the sender for a new one.';

export async function anOwner(app: TestApp, plan: Plan = 'Free', name = 'Ada'): Promise<Person> {
  const owner = await app.signUp(name);
  await app.ctx.db.updateTable('workspace').set({ plan }).where('id', '=', owner.workspaceId).execute();
  return owner;
}

export async function aMember(app: TestApp, owner: Person, role: Role, name?: string): Promise<Person> {
  const member = await app.signUp(name);
  await setRole(app, owner, member, role);
  member.useWorkspace(owner.workspaceId);
  return member;
}

export async function setRole(app: TestApp, owner: Person, { userId }: Person, role: Role): Promise<void> {
  await app.ctx.db
    .insertInto('membership')
    .values({ workspace_id: owner.workspaceId, user_id: userId, role })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'user_id']).doUpdateSet({ role }))
    .execute();
}

export async function expire(app: TestApp, id: number): Promise<void> {
  await app.ctx.db
    .updateTable('invite')
    .set({ expires_at: sql<Date>`now() - interval '1 second'` })
    .where('id', '=', id)
    .execute();
}

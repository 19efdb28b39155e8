import type { Role } from '@stagi/contract/permissions.ts';
import type { Db } from '@stagi/server/src/db/schema.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';

/** Makes a person a member of the owner's workspace, and takes them there. */
export async function letIn(db: Db, owner: Person, person: Person, role: Role): Promise<void> {
  const workspace_id = owner.workspaceId;
  await db.insertInto('membership').values({ workspace_id, user_id: person.userId, role }).execute();
  person.useWorkspace(workspace_id);
}

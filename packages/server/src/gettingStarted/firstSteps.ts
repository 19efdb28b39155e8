import type { GettingStartedStep } from '@stagi/contract/gettingStarted.ts';
import { sql } from 'kysely';
import type { Db } from '../db/schema.ts';

type FirstSteps = Record<GettingStartedStep, boolean> & {
  /** The newest container that has not been deleted. */
  container_id: number | null;
};

/** Which first steps have been done. A server counts once it was made and, if it is the user's own, has joined. */
export async function firstSteps(
  db: Db,
  { userId, workspaceId }: { userId: number; workspaceId: number },
): Promise<FirstSteps> {
  const { rows } = await sql<FirstSteps>`
    select
      exists (select from ssh_key where user_id = ${userId}) as key,
      exists (select from instance where workspace_id = ${workspaceId}
        and status not in ('creation failed', 'awaiting setup')) as server,
      exists (select from container where workspace_id = ${workspaceId}) as container,
      exists (select from app_user where id = ${userId} and log_seen_at is not null) as log,
      (select max(id) from container where workspace_id = ${workspaceId} and status <> 'deleted') as container_id
  `.execute(db);
  return rows[0]!;
}

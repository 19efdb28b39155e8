import { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import { recordForWorkspace } from '../audit/recordForWorkspace.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, notFound, refused } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import { accountDeletedByOperatorMail } from '../mail/operatorMails.ts';
import { lockUser, type Operator } from '../people/lockedByOperator.ts';
import { type DeletionPreview, previewDeletion } from '../users/deletionPreview.ts';
import { lockMemberships, removeAccount } from '../users/removeAccount.ts';

const DELETED = text('This account has been deleted');

/** The workspaces and keys that deleting somebody's account would also delete. */
export async function viewUserDeletion(db: Db, id: number): Promise<DeletionPreview> {
  const user = await db.selectFrom('app_user').select(['id', 'deleted_at']).where(isId('id', id)).executeTakeFirst();
  if (!user) throw notFound();
  if (user.deleted_at) throw refused(DELETED);
  return previewDeletion(db, user.id);
}

/** Deletes somebody's account as they could themselves. The address is typed, so that nobody is mistaken for another. */
export async function deleteUser(
  ctx: Operator,
  { id, email, reason }: { id: number; email: string; reason: string },
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const user = await lockUser(trx, ctx.user.id, id, { forDeletion: true });
    if (user.id === ctx.user.id) throw refused(text('You cannot delete your own account here: use your profile'));
    if (user.deleted_at) throw refused(DELETED);
    if (user.is_employee)
      throw refused(text('An operator’s account cannot be deleted: take the operator’s right first'));
    if (email !== user.email) throw invalid(text('This is not the address of this account'), 'email');
    await lockMemberships(trx, user.id);
    const deletion = await previewDeletion(trx, user.id);
    refuseIfNeeded(deletion);
    const object = { type: 'client/member', id: String(user.id), label: null };
    await removeAccount(ctx, trx, user, {
      deletion,
      mail: accountDeletedByOperatorMail(ctx, user, reason),
      record: (workspaceId) => recordForWorkspace(trx, workspaceId, { action: api.adminUsers.delete.path, object }),
    });
  });
  ctx.log.info({ userId: id, by: ctx.user.id }, 'an account was deleted by an operator');
}

function refuseIfNeeded({ closes, leaves }: DeletionPreview): void {
  const orphaned = namesOf(leaves.filter(({ otherOwners }) => otherOwners === 0));
  if (orphaned)
    throw refused(
      text('The account is the last owner of {{names}} with other members. Have somebody else made an owner first.'),
      { names: orphaned },
    );
  const busy = namesOf(closes.filter(({ openInstances }) => openInstances > 0));
  if (busy)
    throw refused(
      text(
        'There are still servers in {{names}}. They have to be terminated or deleted by a member; disabling the workspace stops them meanwhile.',
      ),
      { names: busy },
    );
  const storing = namesOf(closes.filter(({ openStorages }) => openStorages > 0));
  if (storing)
    throw refused(text('There are still storages in {{names}}. They have to be deleted by a member.'), {
      names: storing,
    });
  const building = namesOf(closes.filter(({ openProjects }) => openProjects > 0));
  if (building)
    throw refused(text('There are still projects in {{names}}. They have to be deleted by a member.'), {
      names: building,
    });
}

/** Empty without workspaces. */
const namesOf = (workspaces: DeletionPreview['closes']): string => workspaces.map(({ name }) => `“${name}”`).join(', ');

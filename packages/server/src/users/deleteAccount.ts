import { api } from '@stagi/contract/api.ts';
import { text } from '@stagi/contract/text.ts';
import { recordAct } from '../audit/record.ts';
import { inTransaction } from '../db/pool.ts';
import { invalid, refused } from '../http/errors.ts';
import type { Visitor } from '../http/visitor.ts';
import { accountDeletedMail } from '../mail/accountMails.ts';
import type { Authenticated } from '../sessions/authenticate.ts';
import { type DeletionPreview, previewDeletion } from './deletionPreview.ts';
import { lockMemberships, removeAccount } from './removeAccount.ts';

type SignedIn = Visitor & Pick<Authenticated, 'credential' | 'user'>;

/** Deletes the caller's own account; its address must be typed. */
export async function deleteAccount(ctx: SignedIn, { email }: { email: string }): Promise<void> {
  const { user } = ctx;
  if (email !== user.email) throw invalid(text('This is not the address of your account'), 'email');
  await inTransaction(ctx.db, async (trx) => {
    await lockMemberships(trx, user.id);
    const deletion = await previewDeletion(trx, user.id);
    refuseIfNeeded(deletion);
    // The member, already anonymized, is the one who acts in the logs of shared workspaces.
    const object = { type: 'client/member', id: String(user.id) };
    await removeAccount(ctx, trx, user, {
      deletion,
      mail: accountDeletedMail(ctx, user),
      record: (id) =>
        recordAct(trx, { ...ctx, workspace: { id } }, { action: api.account.delete.path, outcome: 'done', object }),
    });
  });
  ctx.log.info({ userId: user.id }, 'an account was deleted');
}

function refuseIfNeeded({ closes, leaves }: DeletionPreview): void {
  const orphaned = leaves.find(({ otherOwners }) => otherOwners === 0);
  if (orphaned) {
    throw refused(
      text('You are the last owner of “{{name}}”, which has other members. Make somebody else an owner first.'),
      {
        name: orphaned.name,
      },
    );
  }
  const busy = closes.find(({ openInstances }) => openInstances > 0);
  if (busy) {
    throw refused(text('There are still servers in “{{name}}”. Terminate or delete them first.'), { name: busy.name });
  }
  const storing = closes.find(({ openStorages }) => openStorages > 0);
  if (storing)
    throw refused(text('There are still storages in “{{name}}”. Delete them first.'), { name: storing.name });
  const building = closes.find(({ openProjects }) => openProjects > 0);
  if (building)
    throw refused(text('There are still projects in “{{name}}”. Delete them first.'), { name: building.name });
}

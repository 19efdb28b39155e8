import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { withStagedFiles } from '../files/keep.ts';
import { preparePicture, storePicture } from '../pictures/profilePicture.ts';
import type { Authenticated } from '../sessions/authenticate.ts';

type Caller = Pick<Context, 'db' | 'config' | 'files' | 'log'> & Pick<Authenticated, 'user'>;

/** Changes the user's own profile and returns it. */
export async function editUser(
  ctx: Caller,
  { image, ...changes }: ParsedInputOf<typeof api.user.edit>,
): Promise<Authenticated['user']> {
  const { db, user } = ctx;
  const picture = image ? await preparePicture(ctx, image) : null;
  return withStagedFiles(ctx, picture ? [picture.content] : [], ([file]) =>
    inTransaction(db, async (trx) => {
      if (Object.keys(changes).length > 0)
        await trx.updateTable('app_user').set(changes).where('id', '=', user.id).execute();
      const next = picture && file ? { mimeType: picture.mimeType, file } : null;
      const name = image === undefined ? user.image : await storePicture(trx, user.id, next);
      return { ...user, ...changes, image: name };
    }),
  );
}

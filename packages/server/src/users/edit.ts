import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { preparePicture, storePicture } from '../pictures/profilePicture.ts';
import type { Authenticated } from '../sessions/authenticate.ts';

type Caller = Pick<Context, 'db' | 'config'> & Pick<Authenticated, 'user'>;

/** Changes the user's own profile and returns it. */
export async function editUser(
  { db, user, config }: Caller,
  { image, ...changes }: ParsedInputOf<typeof api.user.edit>,
): Promise<Authenticated['user']> {
  const picture = image ? await preparePicture({ config, user }, image) : null;
  return inTransaction(db, async (trx) => {
    if (Object.keys(changes).length > 0)
      await trx.updateTable('app_user').set(changes).where('id', '=', user.id).execute();
    const name = image === undefined ? user.image : await storePicture(trx, user.id, picture);
    return { ...user, ...changes, image: name };
  });
}

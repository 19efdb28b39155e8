import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { Authenticated } from '../auth/authenticate.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { drawPicture, keepPicture } from './picture.ts';

type Caller = Pick<Context, 'db' | 'config'> & Pick<Authenticated, 'user'>;

/** Changes what somebody may say of themselves; answers the person as they are now. */
export async function editUser(
  { db, user, config }: Caller,
  { image, ...changes }: ParsedInputOf<typeof api.user.edit>,
): Promise<Authenticated['user']> {
  const picture = image ? await drawPicture({ config, user }, image) : null;
  return inTransaction(db, async (trx) => {
    if (Object.keys(changes).length > 0)
      await trx.updateTable('app_user').set(changes).where('id', '=', user.id).execute();
    const name = image === undefined ? user.image : await keepPicture(trx, user.id, picture);
    return { ...user, ...changes, image: name };
  });
}

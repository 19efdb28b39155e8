import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, notFound } from '../http/errors.ts';
import { isId } from '../http/paging.ts';
import type { Credential } from '../sessions/authenticate.ts';

/** The caller of an operators' call. */
export type Operator = Context & {
  user: { id: number };
  credential: Credential;
  ip: string;
  userAgent: string | null;
};

/**
 * Locks the user that an operator acts on, together with the operator. The operator may have been disabled by another
 * one while waiting for the lock: then 403, so that operators cannot disable each other until none is left.
 */
export async function lockUser(
  trx: Db,
  operatorId: number,
  id: number,
  { forDeletion = false }: { forDeletion?: boolean } = {},
) {
  const both = trx
    .selectFrom('app_user')
    .select(['id', 'name', 'email', 'language', 'is_employee', 'disabled_at', 'deleted_at'])
    .where((where) => where.or([where('id', '=', operatorId), isId('id', id)]))
    .orderBy('id');
  // The stronger lock at once: a later upgrade could meet a transaction that refers to the user and waits for this one.
  const rows = await (forDeletion ? both.forUpdate() : both.forNoKeyUpdate()).execute();
  const operator = rows.find((row) => row.id === operatorId);
  if (!operator?.is_employee || operator.disabled_at) throw forbidden();
  const user = rows.find((row) => row.id === id);
  if (!user) throw notFound();
  return user;
}

/** Locks the operator, so that they stay one until the transaction ends; 403 if they no longer are. */
export async function lockOperator(trx: Db, id: number): Promise<void> {
  const operator = await trx
    .selectFrom('app_user')
    .select('id')
    .where('id', '=', id)
    .where('is_employee', '=', true)
    .where('disabled_at', 'is', null)
    .forShare()
    .executeTakeFirst();
  if (!operator) throw forbidden();
}

/** The same as `lockUser`, for a workspace. */
export async function lockWorkspace(trx: Db, operatorId: number, id: number) {
  await lockUser(trx, operatorId, operatorId);
  const client = await trx
    .selectFrom('workspace')
    .select(['id', 'name', 'disabled_at', 'deleted_at', 'plan', 'quotas'])
    .where(isId('id', id))
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!client) throw notFound();
  return client;
}

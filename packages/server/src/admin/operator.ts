import type { Credential } from '../auth/authenticate.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { forbidden, notFound } from '../http/errors.ts';
import { isId } from '../http/paging.ts';

/** Who makes a call of the operators. */
export type Operator = Context & {
  user: { id: number };
  credential: Credential;
  ip: string;
  userAgent: string | null;
};

/**
 * Somebody whom an operator acts upon, locked with the operator, who may have been shut out by another one while they
 * waited: whoever acts is an operator still, so that there is always one left who is not shut out.
 */
export async function holdUser(trx: Db, operatorId: number, id: number) {
  const rows = await trx
    .selectFrom('app_user')
    .select(['id', 'name', 'email', 'language', 'is_employee', 'disabled_at', 'deleted_at'])
    .where((where) => where.or([where('id', '=', operatorId), isId('id', id)]))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  const operator = rows.find((row) => row.id === operatorId);
  if (!operator?.is_employee || operator.disabled_at) throw forbidden();
  const user = rows.find((row) => row.id === id);
  if (!user) throw notFound();
  return user;
}

/** Whoever acts is an operator still, and stays one until the transaction ends. */
export async function holdOperator(trx: Db, id: number): Promise<void> {
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

/** The same for a workspace. */
export async function holdClient(trx: Db, operatorId: number, id: number) {
  await holdUser(trx, operatorId, operatorId);
  const client = await trx
    .selectFrom('workspace')
    .select(['id', 'name', 'disabled_at', 'deleted_at'])
    .where(isId('id', id))
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!client) throw notFound();
  return client;
}

import { recordAct } from '../audit/record.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';

/** Its message is shown to the person who runs the command. */
export class OperatorChangeRefused extends Error {}

export interface OperatorChange {
  name: string;
  /** False if nothing had to change. */
  changed: boolean;
  /** How many operators can log in afterwards. */
  operators: number;
}

/**
 * Makes a person an operator, or revokes it; `by` is the user at the command line. Their open pages and streams follow at
 * once (migration 0008).
 */
export function setOperator(db: Db, what: 'make' | 'remove', email: string, by: string): Promise<OperatorChange> {
  return inTransaction(db, async (trx) => {
    const user = await trx
      .selectFrom('app_user')
      .select(['id', 'name', 'is_employee', 'email_verified_at', 'disabled_at'])
      .where('email', '=', email.trim().toLowerCase())
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!user) throw new OperatorChangeRefused(`Nobody has signed up as ${email}.`);
    const isMade = what === 'make';
    if (isMade && user.disabled_at) throw new OperatorChangeRefused(`The account ${email} is disabled.`);
    if (isMade && !user.email_verified_at)
      throw new OperatorChangeRefused(`Whoever signed up as ${email} has not shown that the address is theirs.`);
    const changed = user.is_employee !== isMade;
    if (changed) {
      await trx.updateTable('app_user').set({ is_employee: isMade }).where('id', '=', user.id).execute();
      await recordAct(
        trx,
        { user: null, credential: null, workspace: null, ip: null, userAgent: null },
        {
          action: `admin/operator/${what}`,
          outcome: 'done',
          object: { type: 'admin/user', id: String(user.id), label: user.name },
          detail: { by },
        },
      );
    }
    const { count } = await trx
      .selectFrom('app_user')
      .select(({ fn }) => fn.countAll<bigint>().as('count'))
      .where('is_employee', '=', true)
      .where('disabled_at', 'is', null)
      .executeTakeFirstOrThrow();
    return { name: user.name, changed, operators: Number(count) };
  });
}

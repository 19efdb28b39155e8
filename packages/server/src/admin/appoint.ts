import { recordAct } from '../audit/record.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';

/** What is wrong with who is named: a line for whoever types the command. */
export class AppointmentRefused extends Error {}

export interface Appointment {
  name: string;
  /** False: they were, or were not, an operator already. */
  changed: boolean;
  /** Operators who can log in, afterwards. */
  operators: number;
}

/**
 * Makes somebody an operator, or one of them no more; `by` is who says so at the machine. Open pages and streams of
 * theirs follow at once (migration 0008).
 */
export function appoint(db: Db, what: 'make' | 'remove', email: string, by: string): Promise<Appointment> {
  return inTransaction(db, async (trx) => {
    const user = await trx
      .selectFrom('app_user')
      .select(['id', 'name', 'is_employee', 'email_verified_at', 'disabled_at'])
      .where('email', '=', email.trim().toLowerCase())
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!user) throw new AppointmentRefused(`Nobody has signed up as ${email}.`);
    const isMade = what === 'make';
    if (isMade && user.disabled_at) throw new AppointmentRefused(`The account ${email} is disabled.`);
    if (isMade && !user.email_verified_at)
      throw new AppointmentRefused(`Whoever signed up as ${email} has not shown that the address is theirs.`);
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

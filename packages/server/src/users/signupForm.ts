import type { Db } from '../db/schema.ts';

/** Stores the sign-up form, once. Returns the user's name as it is then. */
export async function sendSignupForm(
  { db, user }: { db: Db; user: { id: number; name: string } },
  { name, phone, company, purpose }: { name: string; phone: string; company?: string; purpose?: string },
): Promise<string> {
  const form = JSON.stringify({ phone, company: company || null, purpose: purpose ?? null });
  const sent = await db
    .updateTable('app_user')
    .set({ name, signup_form: form })
    .where('id', '=', user.id)
    .where('signup_form', 'is', null)
    .returning('name')
    .executeTakeFirst();
  return sent?.name ?? user.name;
}

import { text } from '@stagi/contract/text.ts';
import type { Config } from '../config/config.ts';
import type { Db } from '../db/schema.ts';
import { invalid } from '../http/errors.ts';

/** Stores the sign-up form, once. Returns the user's name as it is then. */
export async function sendSignupForm(
  { db, config, user }: { db: Db; config: Pick<Config, 'signUp'>; user: { id: number; name: string } },
  { name, phone, company, purpose }: { name: string; phone?: string; company?: string; purpose?: string },
): Promise<string> {
  if (phone === undefined && config.signUp.isPhoneRequired) throw invalid(text('Phone is required'), 'phone');
  const form = JSON.stringify({ phone: phone ?? null, company: company || null, purpose: purpose ?? null });
  const sent = await db
    .updateTable('app_user')
    .set({ name, signup_form: form })
    .where('id', '=', user.id)
    .where('signup_form', 'is', null)
    .returning('name')
    .executeTakeFirst();
  return sent?.name ?? user.name;
}

import type { Context } from '../context.ts';
import { invalid } from '../http/errors.ts';
import { verifySecret } from './passwords.ts';
import { openSession, type Tokens } from './sessions.ts';

type Visitor = Context & { ip: string; userAgent: string | null };

/** Same words and same time for an unknown address, a wrong password and a disabled account. */
export async function signIn(ctx: Visitor, input: { email: string; password: string }): Promise<Tokens> {
  const user = await ctx.db
    .selectFrom('app_user')
    .select(['id', 'password_hash', 'disabled_at'])
    .where('email', '=', input.email)
    .executeTakeFirst();
  const matches = await verifySecret(user?.password_hash ?? null, input.password);
  if (!user || !matches || user.disabled_at) throw invalid('Incorrect email or password', ['email', 'password']);
  return openSession(ctx, ctx.db, user.id, 'email');
}

import type { Send, Tokens } from '@stagi/contract/client.ts';
import { openAccount } from '../auth/register.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { firstVisit, type Person } from './person.ts';

/** Of `PASSWORD`, as the platform hashes it: hashing it for everybody who is in a test took a third of the tests' time. */
const PASSWORD_HASH =
  '$argon2id$v=19$m=65536,t=3,p=1$GT43Ob9Nxuo5r2j5CY6A7w$yDIlFLvIPOFt4TIMOLiIhRLBv1vsHjh5nWyfT3SxjjQ';

/** Somebody as they are once they have typed the mailed code: what it opens, without mail and hashes. */
export async function newPerson(ctx: Context, send: Send, who: { name: string; email: string }): Promise<Person> {
  const visitor = {
    ...ctx,
    ip: '127.0.0.1',
    userAgent: 'node',
    language: 'en' as const,
    device: null,
    keepDevice() {},
  };
  const tokens: Tokens | null = await inTransaction(ctx.db, (trx) =>
    openAccount(visitor, trx, { ...who, password_hash: PASSWORD_HASH }),
  );
  if (!tokens) throw new Error(`${who.email} is taken`);
  return firstVisit(send, tokens, who);
}

import { randomBytes, randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { recoveryCodesMail } from '../mail/letters.ts';
import type { SignedIn } from './authenticate.ts';
import { amongHashers, hashWithSalt } from './passwords.ts';
import { methodsOf } from './secondFactor.ts';
import { tellOwner } from './tellOwner.ts';

const HOW_MANY = 10;
/** Without letters and digits that look like another: 31 signs, so that ten of them are 49 bits. */
const SIGNS = '23456789abcdefghjkmnpqrstuvwxyz';
const HALF = 5;

/** New codes instead of those before. Shown this once: only their hashes are kept. */
export async function newRecoveryCodes(ctx: SignedIn): Promise<string[]> {
  const codes = await makeCodes();
  await inTransaction(ctx.db, async (trx) => {
    if ((await methodsOf(trx, ctx.user.id)).length === 0) throw refused('Set up a second factor first');
    await trx.deleteFrom('recovery_code').where('user_id', '=', ctx.user.id).execute();
    await storeCodes(trx, ctx.user.id, codes);
    await tellOwner(ctx, trx, recoveryCodesMail);
  });
  return codes.map(({ code }) => code);
}

/** Adds a factor; whoever has no recovery codes yet gets some with it, in the same transaction. */
export async function codesForFirstFactor(
  ctx: SignedIn,
  userId: number,
  addFactor: (trx: Db) => Promise<void>,
): Promise<string[] | null> {
  const hasCodes = (db: Db) =>
    db.selectFrom('recovery_code').select('user_id').where('user_id', '=', userId).limit(1).executeTakeFirst();
  // They take a second to hash, for which no transaction waits.
  const codes = (await hasCodes(ctx.db)) ? null : await makeCodes();
  return inTransaction(ctx.db, async (trx) => {
    // Two first factors at once bring codes along once.
    await trx.selectFrom('app_user').select('id').where('id', '=', userId).forUpdate().execute();
    await addFactor(trx);
    if (!codes || (await hasCodes(trx))) return null;
    await storeCodes(trx, userId, codes);
    return codes.map(({ code }) => code);
  });
}

/** Codes stand in for a factor: without one they let nobody in, and go. */
export async function dropCodesOfNoFactor(trx: Db, userId: number): Promise<void> {
  if ((await methodsOf(trx, userId)).length > 0) return;
  await trx.deleteFrom('recovery_code').where('user_id', '=', userId).execute();
}

/** Whether this is an unused code of somebody; what comes back uses it up. */
export async function checkRecoveryCode(
  db: Db,
  userId: number,
  typed: string,
): Promise<((trx: Db) => Promise<boolean>) | null> {
  if (typed.length !== 2 * HALF) return null;
  const salts = await db.selectFrom('recovery_code').select('salt').distinct().where('user_id', '=', userId).execute();
  for (const { salt } of salts) {
    const hash = await amongHashers(() => hashWithSalt(typed, salt));
    const unused = await db
      .selectFrom('recovery_code')
      .select('user_id')
      .where('user_id', '=', userId)
      .where('hash', '=', hash)
      .where('used_at', 'is', null)
      .executeTakeFirst();
    if (!unused) continue;
    return async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('recovery_code')
        .set({ used_at: sql<Date>`now()` })
        .where('user_id', '=', userId)
        .where('hash', '=', hash)
        .where('used_at', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    };
  }
  return null;
}

interface Made {
  code: string;
  hash: Buffer;
  salt: Buffer;
}

/** All of one making share a salt, so that trying a code takes one hash and not ten. */
function makeCodes(): Promise<Made[]> {
  return amongHashers(async () => {
    const salt = randomBytes(16);
    const made: Made[] = [];
    while (made.length < HOW_MANY) {
      const code = Array.from({ length: 2 * HALF }, () => SIGNS[randomInt(SIGNS.length)]).join('');
      made.push({
        code: `${code.slice(0, HALF)}-${code.slice(HALF)}`,
        hash: await hashWithSalt(code, salt),
        salt,
      });
    }
    return made;
  });
}

async function storeCodes(trx: Db, userId: number, codes: readonly Made[]): Promise<void> {
  await trx
    .insertInto('recovery_code')
    .values(codes.map(({ hash, salt }) => ({ user_id: userId, hash, salt })))
    .execute();
}

import { randomBytes, randomInt } from 'node:crypto';
import { text } from '@stagi/contract/text.ts';
import { sql } from 'kysely';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { recoveryCodesMail } from '../mail/accountMails.ts';
import { hashWithSalt, withHashingSlot } from '../passwords/hashing.ts';
import type { SignedIn } from '../sessions/authenticate.ts';
import { notifyOwner } from './notifyOwner.ts';
import { secondFactorMethodsOf } from './signInTickets.ts';

const HOW_MANY = 10;
/** Without letters and digits that look alike: 31 signs, so that a code of ten has 49 bits. */
const SIGNS = '23456789abcdefghjkmnpqrstuvwxyz';
const HALF = 5;

/** Replaces the user's recovery codes. They are shown this once: only hashes are stored. */
export async function replaceRecoveryCodes(ctx: SignedIn): Promise<string[]> {
  const codes = await makeCodes();
  await inTransaction(ctx.db, async (trx) => {
    if ((await secondFactorMethodsOf(trx, ctx.user.id)).length === 0)
      throw refused(text('Set up a second factor first'));
    await trx.deleteFrom('recovery_code').where('user_id', '=', ctx.user.id).execute();
    await storeCodes(trx, ctx.user.id, codes);
    await notifyOwner(ctx, trx, recoveryCodesMail);
  });
  return codes.map(({ code }) => code);
}

/** Adds a factor and, if the user has none yet, recovery codes in the same transaction. Returns the new codes. */
export async function addFactorWithCodes(
  ctx: SignedIn,
  userId: number,
  addFactor: (trx: Db) => Promise<void>,
): Promise<string[] | null> {
  const hasCodes = (db: Db) =>
    db.selectFrom('recovery_code').select('user_id').where('user_id', '=', userId).limit(1).executeTakeFirst();
  // Hashed before the transaction: it takes a second.
  const codes = (await hasCodes(ctx.db)) ? null : await makeCodes();
  return inTransaction(ctx.db, async (trx) => {
    // Locked, so that two first factors added at once create codes only once.
    await trx.selectFrom('app_user').select('id').where('id', '=', userId).forUpdate().execute();
    await addFactor(trx);
    if (!codes || (await hasCodes(trx))) return null;
    await storeCodes(trx, userId, codes);
    return codes.map(({ code }) => code);
  });
}

/** Recovery codes replace a factor: they are deleted with the last one. */
export async function deleteCodesWithoutFactor(trx: Db, userId: number): Promise<void> {
  if ((await secondFactorMethodsOf(trx, userId)).length > 0) return;
  await trx.deleteFrom('recovery_code').where('user_id', '=', userId).execute();
}

/** Checks for an unused code of this user. Returns the function that consumes it, or `null`. */
export async function checkRecoveryCode(
  db: Db,
  userId: number,
  typed: string,
): Promise<((trx: Db) => Promise<boolean>) | null> {
  if (typed.length !== 2 * HALF) return null;
  const salts = await db.selectFrom('recovery_code').select('salt').distinct().where('user_id', '=', userId).execute();
  for (const { salt } of salts) {
    const hash = await withHashingSlot(() => hashWithSalt(typed, salt));
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

interface HashedCode {
  code: string;
  hash: Buffer;
  salt: Buffer;
}

/** The codes of one set share a salt, so that checking one takes one hash and not ten. */
function makeCodes(): Promise<HashedCode[]> {
  return withHashingSlot(async () => {
    const salt = randomBytes(16);
    const made: HashedCode[] = [];
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

async function storeCodes(trx: Db, userId: number, codes: readonly HashedCode[]): Promise<void> {
  await trx
    .insertInto('recovery_code')
    .values(codes.map(({ hash, salt }) => ({ user_id: userId, hash, salt })))
    .execute();
}

import type { Random } from '@stagi/contract/testing/random.ts';
import { somebody } from '../../app/testing/peopleCalled.ts';
import type { Db } from '../../db/schema.ts';

export interface UserRow {
  id: number;
  name: string;
  email: string;
  created_at: Date;
  disabled_at: Date | null;
  deleted_at: Date | null;
  is_employee: boolean;
  email_verified_at: Date | null;
}

export async function everyUser(db: Db): Promise<UserRow[]> {
  return db
    .selectFrom('app_user')
    .select(['id', 'name', 'email', 'created_at', 'disabled_at', 'deleted_at', 'is_employee', 'email_verified_at'])
    .execute();
}

/** Makes so many users, in every state. */
export async function addUsers(db: Db, random: Random, count: number): Promise<void> {
  const now = Date.now();
  await db
    .insertInto('app_user')
    .values(
      Array.from({ length: count }, (_, n) => {
        const disabled = random() < 0.15 ? new Date(now - n * 1000) : null;
        return {
          ...somebody(random, n),
          email_verified_at: random() < 0.8 ? new Date(now) : null,
          is_employee: random() < 0.05,
          disabled_at: disabled,
          deleted_at: disabled && random() < 0.5 ? disabled : null,
        };
      }),
    )
    .execute();
}

import type { AccountDeletionPreview } from '@stagi/contract/account.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { toDecimal } from '@stagi/contract/money.ts';
import { sql } from 'kysely';
import { balanceOf } from '../billing/burnRate.ts';
import type { Db } from '../db/schema.ts';

interface Belonging {
  id: number;
  name: string;
  /** Other members, and the owners among them whose accounts are enabled. */
  others: number;
  otherOwners: number;
  /** Micro-STAGI. */
  balance: bigint;
  openInstances: number;
  openStorages: number;
  openProjects: number;
}

/** What deleting an account would delete or change. */
export interface DeletionPreview {
  /** Workspaces without other members. */
  closes: Belonging[];
  leaves: Belonging[];
  sshKeys: number;
}

export async function previewDeletion(db: Db, userId: number): Promise<DeletionPreview> {
  const { rows } = await sql<Belonging>`
    select w.id, w.name, ${sql.raw(balanceOf('w.id'))} as balance,
      (select count(*)::int from membership o where o.workspace_id = w.id and o.user_id <> m.user_id) as others,
      (select count(*)::int from membership o join app_user u on u.id = o.user_id
        where o.workspace_id = w.id and o.user_id <> m.user_id and o.role = 'Owner' and u.disabled_at is null)
        as "otherOwners",
      (select count(*)::int from instance i where i.workspace_id = w.id and i.closed_at is null) as "openInstances",
      (select count(*)::int from storage s where s.workspace_id = w.id and s.kind = 'storage' and s.closed_at is null)
        as "openStorages",
      (select count(*)::int from project p where p.workspace_id = w.id and p.closed_at is null) as "openProjects"
    from membership m join workspace w on w.id = m.workspace_id
    where m.user_id = ${userId} order by m.created_at, w.id`.execute(db);
  const keys = await db
    .selectFrom('ssh_key')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return {
    closes: rows.filter(({ others }) => others === 0),
    leaves: rows.filter(({ others }) => others > 0),
    sshKeys: keys.count,
  };
}

export function presentDeletion({
  closes,
  leaves,
  sshKeys,
}: DeletionPreview): Omit<AccountDeletionPreview, 'isSuccess'> {
  return {
    closes: closes.map(({ id, name, balance, openInstances, openStorages, openProjects }) => ({
      clientId: id,
      clientName: name,
      balance: { currency: CURRENCY, decimalValue: toDecimal(balance) },
      openInstances,
      openStorages,
      openProjects,
    })),
    leaves: leaves.map(({ id, name, otherOwners }) => ({
      clientId: id,
      clientName: name,
      lastOwner: otherOwners === 0,
    })),
    sshKeys,
  };
}

import { asMicro, type Micro } from '@stagi/contract/money.ts';
import { text } from '@stagi/contract/text.ts';
import type { Db } from '../db/schema.ts';
import { refused } from '../http/errors.ts';
import { accountOf } from './accounts.ts';
import { isInsufficientFunds, post } from './ledger.ts';

/**
 * Sets money of `onchain` aside, which alone may leave: first held, then paid out or given back, each at most once. The
 * same `key` again answers the same hold. The journal's `meta` is what the workspace sees of it: `to`, `network`.
 */
export async function hold(
  trx: Db,
  workspaceId: number,
  key: string,
  amount: Micro,
  meta: Record<string, unknown> = {},
): Promise<bigint> {
  const lines = [
    { account: accountOf(workspaceId, 'onchain'), amount: asMicro(-amount) },
    { account: accountOf(workspaceId, 'held'), amount },
  ];
  const journalId = await post(trx, 'hold', `hold:${key}`, workspaceId, lines, meta).catch((error: unknown) => {
    throw isInsufficientFunds(error) ? refused(text('The balance that can be withdrawn does not cover this')) : error;
  });
  await trx
    .insertInto('hold')
    .values({ workspace_id: workspaceId, amount, journal_id: journalId })
    .onConflict((conflict) => conflict.column('journal_id').doNothing())
    .execute();
  const { id } = await trx
    .selectFrom('hold')
    .select('id')
    .where('journal_id', '=', journalId)
    .executeTakeFirstOrThrow();
  return id;
}

/** Gives the money of a hold back. False when it has ended before. */
export const release = (trx: Db, holdId: bigint): Promise<boolean> => end(trx, holdId, 'released');

/** The money of a hold has left. False when it has ended before. */
export const capture = (trx: Db, holdId: bigint): Promise<boolean> => end(trx, holdId, 'captured');

async function end(trx: Db, holdId: bigint, state: 'released' | 'captured'): Promise<boolean> {
  const open = await trx
    .selectFrom('hold')
    .select(['workspace_id', 'amount', 'state'])
    .where('id', '=', holdId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  if (open.state !== 'open') return false;
  const workspaceId = open.workspace_id;
  const journalId = await post(trx, state === 'released' ? 'release' : 'capture', `hold:${holdId}:end`, workspaceId, [
    { account: accountOf(workspaceId, 'held'), amount: asMicro(-open.amount) },
    { account: state === 'released' ? accountOf(workspaceId, 'onchain') : 'world:payout', amount: open.amount },
  ]);
  await trx.updateTable('hold').set({ state, ended_by: journalId }).where('id', '=', holdId).execute();
  return true;
}

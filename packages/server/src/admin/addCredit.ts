import { randomUUID } from 'node:crypto';
import type { AdminClient } from '@stagi/contract/adminClients.ts';
import { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { asMicro, fromDecimal, toDecimal } from '@stagi/contract/money.ts';
import { text } from '@stagi/contract/text.ts';
import { accountOf } from '../billing/accounts.ts';
import { post } from '../billing/ledger.ts';
import { lockAvailableBalance } from '../billing/spendOrder.ts';
import { announce } from '../bus/bus.ts';
import { inTransaction } from '../db/pool.ts';
import { refused } from '../http/errors.ts';
import { creditedMail } from '../mail/operatorMails.ts';
import { lockUser, lockWorkspace, type Operator } from '../people/lockedByOperator.ts';
import { clientOf } from './clients.ts';
import { notifyOwners, recordInWorkspace } from './workspaceNotices.ts';

interface Input {
  id: number;
  amount: string;
  reason: string;
}

/** Books credit for a workspace. The call's Idempotency-Key keeps it from being booked twice. */
export function addCredit(ctx: Operator, { id, amount: decimal, reason }: Input): Promise<AdminClient> {
  return inTransaction(ctx.db, async (trx) => {
    // In the order of locks in which a workspace is disabled, to avoid a deadlock.
    await lockUser(trx, ctx.user.id, ctx.user.id);
    await lockAvailableBalance(trx, id);
    const client = await lockWorkspace(trx, ctx.user.id, id);
    if (client.deleted_at) throw refused(text('This workspace has been closed'));
    if (client.disabled_at) throw refused(text('This workspace is disabled. Enable it before you add credit.'));
    const amount = fromDecimal(decimal);
    await post(
      trx,
      'grant',
      `grant:${randomUUID()}`,
      client.id,
      [
        { account: 'promo', amount: asMicro(-amount) },
        { account: accountOf(client.id, 'credit'), amount },
      ],
      { reason },
    );
    const credit = { workspace: client.name, amount: `${toDecimal(amount)} ${CURRENCY}`, reason };
    await notifyOwners(ctx, trx, client.id, (owner) => creditedMail(ctx, owner, credit));
    await recordInWorkspace(trx, api.adminClients.addCredit.path, client, { amount: decimal, reason });
    await announce(trx, 'changed', { entity: 'balance', id: null, workspaceId: client.id });
    return clientOf({ ...ctx, db: trx }, client.id);
  });
}

import type { api } from '@stagi/contract/api.ts';
import { CURRENCY } from '@stagi/contract/brand.ts';
import { toDecimal } from '@stagi/contract/money.ts';
import { burnRateOf, readBalance, readDaysLeft } from '../billing/burnRate.ts';
import { toUsd } from '../billing/price.ts';
import { zeroBalanceDetails, zeroBalanceSummary } from '../billing/zero.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { resumeServers } from './resume.ts';

export const billingHandlers: HandlersOf<typeof api.billing> = {
  async balance({ config, db, pg, workspace }) {
    const balance = await readBalance(db, workspace.id);
    const { perHour, reserve } = await burnRateOf(db, workspace.id);
    const { starter_refused: starterRefused } = await db
      .selectFrom('workspace')
      .select('starter_refused')
      .where('id', '=', workspace.id)
      .executeTakeFirstOrThrow();
    const daysLeft = await readDaysLeft(pg, [workspace.id]);
    const zero = workspace.exhausted ? await zeroBalanceSummary(db, workspace.id) : null;
    return {
      isSuccess: true,
      clientBalance: {
        STAGI: { decimalValue: toDecimal(balance) },
        USD: { decimalValue: toDecimal(toUsd(config, balance)) },
      },
      exhausted: workspace.exhausted,
      starterRefused,
      zero: zero && { ...zero, keptUntil: zero.keptUntil.toISOString() },
      burnPerHour: toDecimal(perHour),
      reserve: toDecimal(reserve),
      daysLeft: daysLeft.get(workspace.id) ?? null,
    };
  },
  async zero({ db, workspace }) {
    const { keptUntil, held, lost, storages, otherPerHour } = await zeroBalanceDetails(db, workspace.id);
    const stagi = (micro: bigint) => ({ currency: CURRENCY, decimalValue: toDecimal(micro) });
    return {
      isSuccess: true,
      exhausted: keptUntil !== null,
      keptUntil: keptUntil?.toISOString() ?? null,
      balance: stagi(await readBalance(db, workspace.id)),
      otherPerHour: stagi(otherPerHour),
      instances: held.map(({ added, ...server }) => ({ ...server, pricePerHour: stagi(added) })),
      lost,
      storages,
    };
  },
  async resume(ctx, { instanceIds }) {
    await resumeServers(ctx, instanceIds);
    return { isSuccess: true };
  },
};

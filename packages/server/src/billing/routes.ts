import type { api } from '@stagi/contract/api.ts';
import { toDecimal } from '@stagi/contract/money.ts';
import type { HandlersOf } from '../http/mount.ts';
import { daysLeft } from './balance.ts';
import { toUsd } from './price.ts';

export const billingHandlers: HandlersOf<typeof api.billing> = {
  async balance({ config, workspace }) {
    return {
      isSuccess: true,
      clientBalance: {
        STAGI: { decimalValue: toDecimal(workspace.balance) },
        USD: { decimalValue: toDecimal(toUsd(config, workspace.balance)) },
      },
      exhausted: workspace.exhausted,
      burnPerHour: toDecimal(workspace.perHour),
      daysLeft: daysLeft(workspace),
    };
  },
};

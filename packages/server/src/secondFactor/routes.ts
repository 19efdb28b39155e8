import type { api } from '@stagi/contract/api.ts';
import { limitChallengeRate, limitSignInRate } from '../attempts/addressRateLimit.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { listPasskeys, presentPasskey, removePasskey, renamePasskey } from './passkeyList.ts';
import { addPasskey, passkeyCreation } from './passkeys.ts';
import { replaceRecoveryCodes } from './recoveryCodes.ts';
import { passkeyOptions, signInWithPasskey, verifySecondFactor } from './secondFactorSignIn.ts';
import { secondFactorOverview } from './signInTickets.ts';
import { beginStepUp, stepUp, stepUpOptions } from './stepUp.ts';
import { beginTotp, confirmTotp, removeTotp } from './totp.ts';

export const secondFactorHandlers: HandlersOf<typeof api.secondFactor> = {
  async view(ctx) {
    return { isSuccess: true, ...(await secondFactorOverview(ctx.db, ctx.user.id)) };
  },
  async verify(ctx, input) {
    await limitSignInRate(ctx);
    return { isSuccess: true, ...(await verifySecondFactor(ctx, input)) };
  },
  async passkeyOptions(ctx, input) {
    await limitChallengeRate(ctx);
    return { isSuccess: true, options: await passkeyOptions(ctx, input) };
  },
  async passkeyVerify(ctx, input) {
    await limitSignInRate(ctx);
    return { isSuccess: true, ...(await signInWithPasskey(ctx, input)) };
  },
  async stepUpBegin(ctx, input) {
    return { isSuccess: true, ...(await beginStepUp(ctx, input)) };
  },
  async stepUpOptions(ctx) {
    return { isSuccess: true, options: await stepUpOptions(ctx) };
  },
  async stepUp(ctx, input) {
    await stepUp(ctx, input);
    return { isSuccess: true };
  },
  async totpBegin(ctx) {
    return { isSuccess: true, ...(await beginTotp(ctx)) };
  },
  async totpConfirm(ctx, input) {
    return { isSuccess: true, recoveryCodes: await confirmTotp(ctx, input) };
  },
  async totpRemove(ctx) {
    await removeTotp(ctx);
    return { isSuccess: true };
  },
  async recoveryCodes(ctx) {
    return { isSuccess: true, recoveryCodes: await replaceRecoveryCodes(ctx) };
  },
  async passkeyList(ctx, { entityFilterRequest }) {
    const { rows, count } = await listPasskeys(ctx.db, ctx.user.id, entityFilterRequest);
    return pageOf(rows.map(presentPasskey), count, entityFilterRequest);
  },
  async passkeyAddOptions(ctx) {
    return { isSuccess: true, options: await passkeyCreation(ctx) };
  },
  async passkeyAdd(ctx, input) {
    const { row, recoveryCodes } = await addPasskey(ctx, input);
    return { isSuccess: true, entity: presentPasskey(row), recoveryCodes };
  },
  async passkeyEdit(ctx, input) {
    return { isSuccess: true, entity: presentPasskey(await renamePasskey(ctx, input)) };
  },
  async passkeyRemove(ctx, input) {
    await removePasskey(ctx, input);
    return { isSuccess: true };
  },
};

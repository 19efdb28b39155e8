import type { api } from '@stagi/contract/api.ts';
import { recordAct } from '../audit/record.ts';
import { inTransaction } from '../db/pool.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { pageOf } from '../http/paging.ts';
import { archiveToken } from './archive.ts';
import { checkCli } from './cliCheck.ts';
import { createToken } from './create.ts';
import { listTokens } from './list.ts';
import { presentToken } from './present.ts';

export const apiTokenHandlers: HandlersOf<typeof api.apiTokens> = {
  async list(ctx, { entityFilterRequest, archived }) {
    const { rows, count } = await listTokens(ctx.db, ctx.user.id, entityFilterRequest, archived);
    return pageOf(rows.map(presentToken), count, entityFilterRequest);
  },
  async create(ctx, input) {
    return { isSuccess: true, ...(await createToken(ctx, input)) };
  },
  async archive(ctx, { id }) {
    await inTransaction(ctx.db, async (trx) => {
      const archived = await archiveToken({ ...ctx, db: trx }, id);
      if (!archived) return;
      const object = { type: 'api-token', id: String(id), label: archived.description };
      const workspace = { id: archived.workspace_id };
      await recordAct(trx, { ...ctx, workspace }, { action: 'api-token/archive', outcome: 'done', object });
    });
    return { isSuccess: true };
  },
  async cliCheck(ctx, { clientVersion }) {
    return { isSuccess: true, ...checkCli(ctx, clientVersion) };
  },
};

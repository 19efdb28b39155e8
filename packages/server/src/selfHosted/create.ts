import type { Ref } from '@stagi/contract/page.ts';
import type { WorkspacePlan } from '@stagi/contract/planLimits.ts';
import { text } from '@stagi/contract/text.ts';
import { announce } from '../bus/bus.ts';
import { isLoopback } from '../config/loopback.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import { recordActivity } from '../instances/activity.ts';
import { lockInstance, viewInstance } from '../instances/find.ts';
import { type InstallOptions, installCommand, issueEnrolment, revokeNode } from '../nodes/enrolment.ts';
import { presentSelfHosted } from './present.ts';
import { requireOwnServer } from './quota.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

/** Creates a self-hosted server and issues its enrolment token. */
export async function createSelfHosted(
  ctx: Caller & { workspace: WorkspacePlan },
  { title, slug, ...install }: { title: string; slug: string } & InstallOptions,
) {
  return inTransaction(ctx.db, async (trx) => {
    await requireOwnServer(trx, ctx.workspace);
    const row = await trx
      .insertInto('instance')
      .values({
        workspace_id: ctx.workspace.id,
        kind: 'self-hosted',
        slug,
        title,
        created_by: ctx.user.id,
        status: 'awaiting setup',
      })
      .onConflict((conflict) => conflict.columns(['workspace_id', 'slug']).where('closed_at', 'is', null).doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!row) throw invalid(text('This Unique ID is taken'), 'slug');
    await recordActivity(trx, row.id, { kind: 'created', actorId: ctx.user.id });
    return enrolmentReply(ctx, trx, row.id, install);
  });
}

/** Issues a new enrolment token; the old one and the key of the enrolled daemon are revoked. */
export async function reissueToken(
  ctx: Caller,
  { allowCpu, allowAnyLinux, allowHostTerminal, allowAnyFolder, ...ref }: Ref & InstallOptions,
) {
  return inTransaction(ctx.db, async (trx) => {
    const row = await lockInstance(trx, ctx.workspace.id, 'self-hosted', ref);
    if (row.closed_at) throw refused(text('This server was deleted'));
    await revokeNode(ctx, trx, row.id, 'A new enrolment file was issued');
    await recordActivity(trx, row.id, { kind: 'enrolment reissued', actorId: ctx.user.id });
    return enrolmentReply(ctx, trx, row.id, { allowCpu, allowAnyLinux, allowHostTerminal, allowAnyFolder });
  });
}

async function enrolmentReply(ctx: Caller, trx: Db, id: number, install: InstallOptions) {
  const { token, expiresAt } = await issueEnrolment(ctx, trx, id, 'self-hosted');
  await announce(trx, 'changed', { entity: 'self-hosted-instance', id, workspaceId: ctx.workspace.id });
  return {
    entity: presentSelfHosted(await viewInstance(trx, ctx.workspace.id, 'self-hosted', { id })),
    daemonToken: token,
    installCommand: await installCommand(ctx, install),
    expiresAt: expiresAt.toISOString(),
    onlyThisMachine: onlyThisMachine(ctx),
  };
}

/** Without DAEMON_ORIGIN daemons connect to an address that only this machine can reach. */
function onlyThisMachine({ config, daemonOrigin }: Context): boolean {
  return config.daemonOrigin === null || isLoopback(new URL(daemonOrigin).hostname);
}

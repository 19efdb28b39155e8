import type { Ref } from '@stagi/contract/page.ts';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { installCommand, issueEnrolment, revokeNode } from '../daemon-link/enrolment.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import { recordActivity } from '../instances/activity.ts';
import { lockInstance, viewInstance } from '../instances/find.ts';
import { isLoopback } from '../loopback.ts';
import { presentOwnServer } from './present.ts';

type Caller = Context & { user: { id: number }; workspace: { id: number } };

/** Prepares a place for an own server and issues the file that joins it. */
export async function createOwnServer(ctx: Caller, { title, slug }: { title: string; slug: string }) {
  return inTransaction(ctx.db, async (trx) => {
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
    if (!row) throw invalid('This Unique ID is taken', 'slug');
    await recordActivity(trx, row.id, { kind: 'created', actorId: ctx.user.id });
    return enrolment(ctx, trx, row.id);
  });
}

/** A new file; the old one and the key of the joined daemon are worth nothing any more. */
export async function reissueToken(ctx: Caller, ref: Ref) {
  return inTransaction(ctx.db, async (trx) => {
    const row = await lockInstance(trx, ctx.workspace.id, 'self-hosted', ref);
    if (row.closed_at) throw refused('This server was deleted');
    await revokeNode(ctx, trx, row.id, 'A new enrolment file was issued');
    await recordActivity(trx, row.id, { kind: 'enrolment reissued', actorId: ctx.user.id });
    return enrolment(ctx, trx, row.id);
  });
}

async function enrolment(ctx: Caller, trx: Db, id: number) {
  const { token, expiresAt } = await issueEnrolment(ctx, trx, id, 'self-hosted');
  await announce(trx, 'changed', { entity: 'self-hosted-instance', id, workspaceId: ctx.workspace.id });
  return {
    entity: presentOwnServer(await viewInstance(trx, ctx.workspace.id, 'self-hosted', { id })),
    daemonToken: token,
    installCommand: await installCommand(ctx),
    expiresAt: expiresAt.toISOString(),
    onlyThisMachine: onlyThisMachine(ctx),
  };
}

/** Until an operator says where machines dial, it is an address that exists on this machine alone. */
function onlyThisMachine({ config, daemonOrigin }: Context): boolean {
  return config.daemonOrigin === null || isLoopback(new URL(daemonOrigin).hostname);
}

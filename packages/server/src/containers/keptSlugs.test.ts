import { api } from '@stagi/contract/api.ts';
import { CallError, fieldErrors } from '@stagi/contract/errors.ts';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { connectDaemon } from '../testing/daemon.ts';
import { aRentedInstance } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';
import { readyServer } from './testing/readyServer.ts';

const { at, join, create, request } = readyServer();
const TAKEN = { slug: 'This Unique ID is taken' };
const PORT = [{ host: 8080, container: 80 }];

/** Deletes it as a daemon would report it. */
async function remove(id: number): Promise<void> {
  await at.alice.client(api.containers.delete, { id });
  await at.daemon.desired(({ containers }) => !containers.some((one) => one.id === id && one.state !== 'absent'));
  await sql`update container set status = 'deleted', deleted_at = now() where id = ${id} and deleted_at is null`.execute(
    at.app.ctx.db,
  );
}

/** Mallory's own server, and the refusal of a container there. */
async function neighbour(): Promise<{ mallory: Person; tries(slug: string): Promise<unknown> }> {
  const mallory = await at.app.signUp('Mallory');
  const theirs = await aRentedInstance(at.app.ctx, mallory);
  const daemon = await connectDaemon(at.app.url, await join(theirs));
  return {
    mallory,
    async tries(slug) {
      const asked = mallory.client(api.containers.create, request({ instanceRef: { id: theirs }, slug }));
      const answer = await asked.catch((error: unknown) => error);
      if (answer instanceof CallError) return fieldErrors(answer);
      await daemon.close();
      return 'created';
    },
  };
}

it('keeps the Unique ID of a deleted container with ports for its workspace', async () => {
  const first = await create({ slug: 'notebook', portMappings: PORT });
  await remove(first.id);
  const { tries } = await neighbour();
  expect(await tries('notebook')).toEqual(TAKEN);
  const again = await create({ slug: 'notebook', portMappings: PORT });
  expect(again.slug).toBe('notebook');
  await remove(again.id);
  expect(await tries('notebook')).toEqual(TAKEN);
});

it('gives the Unique ID of a container free that never had an address', async () => {
  const { id } = await create({ slug: 'batch' });
  await remove(id);
  const { tries } = await neighbour();
  expect(await tries('batch')).toBe('created');
});

it('keeps 100 of a workspace, and longer what was public in the last 90 days', async () => {
  const { ctx } = at.app;
  const open = await create({ slug: 'opened', portMappings: [{ ...PORT[0]!, visibility: 'public' }] });
  // Private when it is deleted: it was public before.
  await sql`update container set ports = ${JSON.stringify([{ ...PORT[0], visibility: 'private' }])} where id = ${open.id}`.execute(
    ctx.db,
  );
  await remove(open.id);
  const quiet = await create({ slug: 'closed', portMappings: PORT });
  await remove(quiet.id);
  const { tries } = await neighbour();
  for (let n = 0; n < 100; n += 1) {
    await sql`insert into kept_slug (slug, workspace_id) values (${`kept-${n}`}, ${at.alice.workspaceId})`.execute(
      ctx.db,
    );
  }
  const last = await create({ slug: 'last', portMappings: PORT });
  await remove(last.id);
  expect(await tries('opened')).toEqual(TAKEN);
  expect(await tries('last')).toEqual(TAKEN);
  expect(await tries('closed')).toBe('created');
  await sql`update kept_slug set public_at = now() - interval '91 days' where slug = 'opened'`.execute(ctx.db);
  const later = await create({ slug: 'later', portMappings: PORT });
  await remove(later.id);
  expect(await (await neighbour()).tries('opened')).toBe('created');
});

it('refuses it also to whoever asks while it is being deleted', async () => {
  const { ctx } = at.app;
  const { id } = await create({ slug: 'leaving', portMappings: PORT });
  const { tries } = await neighbour();
  const deleted = Promise.withResolvers<void>();
  const committed = ctx.db.transaction().execute(async (trx) => {
    await sql`update container set status = 'deleted', deleted_at = now() where id = ${id}`.execute(trx);
    await deleted.promise;
  });
  const asked = tries('leaving');
  await expect
    .poll(async () => {
      const { rows } = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`.execute(ctx.db);
      return rows[0]!.n;
    })
    .toBeGreaterThan(0);
  deleted.resolve();
  await committed;
  // It is to be tried again; then it is taken.
  expect(await asked).toEqual({});
  expect(await tries('leaving')).toEqual(TAKEN);
});

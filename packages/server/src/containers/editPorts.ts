import { containerCan } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import type { Ref } from '@stagi/contract/page.ts';
import { text } from '@stagi/contract/text.ts';
import { type RawBuilder, sql } from 'kysely';
import { announce } from '../bus/bus.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { invalid, refused } from '../http/errors.ts';
import { lockManagedContainer, type Viewer, visibleContainer } from './access.ts';

type Caller = Context & Viewer;
type Change = Pick<Container['portMappings'][number], 'host' | 'visibility'>;

/**
 * Makes ports private or public. Their addresses follow at once; the server binds them so when the container is next
 * recreated, as this does not interrupt it.
 */
export function editPorts(ctx: Caller, ref: Ref, changes: readonly Change[]): Promise<Container> {
  return inTransaction(ctx.db, async (trx) => {
    const viewer = { db: trx, workspace: ctx.workspace };
    const container = await lockManagedContainer(viewer, ref);
    // Until it is being deleted, and not while a task decides.
    const verdict = containerCan.delete(container);
    if (!verdict.allowed) throw refused(verdict.reason);
    for (const [index, { host }] of changes.entries())
      if (!container.portMappings.some((port) => port.host === host))
        throw invalid(text('The container has no port {{port}}'), `portMappings.${index}.host`, { port: host });
    await changeVisibility(trx, container.id, changes);
    await announce(trx, 'node', { instanceId: container.instance.id });
    await announce(trx, 'changed', {
      entity: 'docker-container',
      id: container.id,
      workspaceId: ctx.workspace.id,
    });
    return visibleContainer(viewer, { id: container.id });
  });
}

/**
 * Nothing but the visibility: what the policy of the server has admitted stays as it is. Also in what an edit can be undone
 * to: that must not make a port public again.
 */
async function changeVisibility(trx: Db, id: number, changes: readonly Change[]): Promise<void> {
  const wanted = JSON.stringify(Object.fromEntries(changes.map(({ host, visibility }) => [host, visibility])));
  const changed = (ports: RawBuilder<unknown>) => sql`(
    select coalesce(jsonb_agg(port || jsonb_build_object('visibility',
      coalesce(${wanted}::jsonb -> (port ->> 'host'), port -> 'visibility')) order by place), '[]')
    from jsonb_array_elements(${ports}) with ordinality as listed (port, place))`;
  await sql`
    update container set
      ports = ${changed(sql`ports`)},
      applied_spec = jsonb_set(applied_spec, '{ports}', ${changed(sql`applied_spec -> 'ports'`)})
    where id = ${id}`.execute(trx);
}

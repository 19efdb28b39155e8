import type { Context } from '../context.ts';
import { aContainer, aRentedInstance, aSelfHostedServer } from './factories.ts';
import type { Person } from './person.ts';

/** A running container that publishes port 8080, on a server of that kind. */
export async function aContainerWithPort(
  ctx: Context,
  owner: Person,
  kind: 'rented' | 'self-hosted' = 'rented',
): Promise<{ id: number; slug: string }> {
  const server = kind === 'rented' ? await aRentedInstance(ctx, owner) : await aSelfHostedServer(ctx, owner);
  return aContainerWithPortOn(ctx, owner, server);
}

/** The same on a server that is there. The port is private. */
export async function aContainerWithPortOn(
  ctx: Context,
  owner: Person,
  serverId: number,
): Promise<{ id: number; slug: string }> {
  const id = await aContainer(ctx, owner, serverId);
  const { slug } = await ctx.db
    .updateTable('container')
    .set({ ports: JSON.stringify([{ host: 8080, container: 80, visibility: 'private' }]) })
    .where('id', '=', id)
    .returning('slug')
    .executeTakeFirstOrThrow();
  return { id, slug };
}

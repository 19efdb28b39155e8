import { canonicalImage } from '@stagi/contract/imageReference.ts';
import type { ServerImage } from '@stagi/contract/serverImages.ts';
import { sql } from 'kysely';
import type { InstanceTable } from '../db/computeTables.ts';
import type { Db } from '../db/schema.ts';

/** The images of the last inventory of a server, and when that was. */
export async function imagesOf(
  db: Db,
  { id, kind }: { id: number; kind: InstanceTable['kind'] },
): Promise<{ entities: ServerImage[]; seenAt: string | null }> {
  const node = await db
    .selectFrom('daemon_node')
    .select(['inventory', 'inventory_at'])
    .where('instance_id', '=', id)
    .executeTakeFirst();
  const holders = await db
    .selectFrom('container')
    .select(['id', 'title', 'image'])
    .where('instance_id', '=', id)
    .where('deleted_at', 'is', null)
    .where('status', '<>', sql.lit('creation failed'))
    .orderBy('id')
    .execute();
  const byImage = Map.groupBy(holders, ({ image }) => canonicalImage(image));
  const entities = (node?.inventory?.images ?? []).map(({ reference, sizeBytes, createdAt, ours }) => ({
    reference,
    sizeBytes,
    createdAt,
    usedBy: (byImage.get(canonicalImage(reference)) ?? []).map((holder) => ({ id: holder.id, title: holder.title })),
    ours: ours ?? kind === 'rented',
  }));
  return { entities, seenAt: node?.inventory_at?.toISOString() ?? null };
}

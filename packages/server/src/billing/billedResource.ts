import type { BilledResource } from '@stagi/contract/usage.ts';

/** What a segment, a day of usage and a transaction of usage are about. */
export type ResourceKind = 'instance' | 'storage';

/** The columns of `BILLED_RESOURCE`. */
export interface ResourceRow {
  resource_kind: ResourceKind;
  resource_id: number;
  slug: string;
  title: string;
}

/** Of a row that is about nothing that is billed by time. */
export type NoResource = { [K in keyof ResourceRow]: null };

/** SQL: joins the server `i` or the storage `d` that the row of these two columns is about. */
export const joinBilledResource = (kind: string, id: string): string =>
  `left join instance i on ${kind} = 'instance' and i.id = ${id} left join storage d on ${kind} = 'storage' and d.id = ${id}`;

/** SQL: slug and title of a joined resource. */
export const RESOURCE_NAMES = 'coalesce(i.slug, d.slug) as slug, coalesce(i.title, d.title) as title';
/** Columns that a text is looked for in. */
export const RESOURCE_NAME_COLUMNS = ['i.title', 'i.slug', 'd.title', 'd.slug'];

const KIND_ON_WIRE = { instance: 'instance-rented', storage: 'storage' } as const;

export function presentResource({ resource_kind: kind, resource_id: id, slug, title }: ResourceRow): BilledResource {
  return { kind: KIND_ON_WIRE[kind], id, slug, title };
}

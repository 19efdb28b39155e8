import { z } from 'zod';

/** The part of a list request that all lists share. */
export const EntityFilterRequest = z.object({
  orderByField: z.string().max(40).default('createdAt'),
  orderByDirection: z.enum(['asc', 'desc']).default('desc'),
  page: z.number().int().min(1).max(1_000_000).default(1),
  limit: z.number().int().min(1).max(100).default(10),
  queryString: z.string().trim().max(200).optional(),
  statuses: z.array(z.string().max(40)).max(40).optional(),
});
export type EntityFilterRequest = z.infer<typeof EntityFilterRequest>;

export const ListInput = z.object({ entityFilterRequest: EntityFilterRequest.prefault({}) });

/** The answer of a list: one page, and the total. */
export function listOf<T extends z.ZodType>(entity: T) {
  return z.object({
    isSuccess: z.literal(true),
    entities: z.array(entity),
    totalPages: z.number().int(),
    totalCount: z.number().int(),
    /** There are more than `totalCount`: a long list counts only up to a limit. */
    isMore: z.literal(true).optional(),
  });
}

/** The answer of view, create and edit. */
export function oneOf<T extends z.ZodType>(entity: T) {
  return z.object({ isSuccess: z.literal(true), entity });
}

/** The answer of a call that has nothing else to tell. */
export const SuccessResponse = z.object({ isSuccess: z.literal(true), message: z.string().optional() });

/**
 * The `version` of an entity as it was read. An edit with it is refused with 409 when somebody has changed the entity since;
 * without it the edit is made in any case.
 */
export const EditVersion = z.string().max(64);

export const Id = z.number().int().positive().max(Number.MAX_SAFE_INTEGER);

/** Another thing, as a link to it shows it. */
export const Named = z.object({ id: Id, slug: z.string(), title: z.string() });

/** `{id}` or `{slug}`. */
export const Ref = z.union([z.object({ id: Id }), z.object({ slug: z.string().trim().min(1).max(60) })]);
/** A `Ref` with a message of its own. Within another union its own refusal would be shown. */
export const refOr = (message: string) => z.union(Ref.options, message);
export type Ref = z.infer<typeof Ref>;

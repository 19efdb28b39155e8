import pg from 'pg';
import { z } from 'zod';

type Place = (string | number)[];
interface Schema {
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

/** The paths of all fields of an input that may hold the id of an entity, by their names in the contract. */
export function idPaths(input: z.ZodType): Place[] {
  return [
    ...new Map(
      walk(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema, []).map((place) => [
        place.join('.'),
        place,
      ]),
    ).values(),
  ];
}

function walk(schema: Schema, place: Place): Place[] {
  const branches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const inside = branches.flatMap((branch) => walk(branch, place));
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = [...place, name];
    // A slug is an id only within a reference; elsewhere it is the slug of a new entity.
    const isSlug = name === 'slug' && /Ref$/.test(String(place.at(-1)));
    const isId = (isSlug || /^id$|Id$|Ids$|_id$/.test(name)) && field.type !== 'object';
    return isId ? [field.type === 'array' ? [...here, 0] : here, ...walk(field, here)] : walk(field, here);
  });
  return [...inside, ...fields, ...(schema.items ? walk(schema.items, [...place, 0]) : [])];
}

/**
 * A copy with the value at a path changed; missing objects and lists on the path are created. A reference by slug has no
 * id, which would be the one that counts.
 */
export function withValueAt(value: unknown, [name, ...rest]: Place, changed: unknown): unknown {
  if (name === undefined) return changed;
  if (typeof name === 'number') return [withValueAt((value as unknown[] | undefined)?.[name], rest, changed)];
  const { id, ...others } = (value ?? {}) as Record<string, unknown>;
  return {
    ...others,
    ...(id !== undefined && name !== 'slug' && { id }),
    [name]: withValueAt((value as Record<string, unknown> | undefined)?.[name], rest, changed),
  };
}

/** Makes ids of different tables start at different millions, so that no id is valid for two kinds of entity. */
export async function spreadIds(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`
      select setval(pg_get_serial_sequence(quote_ident(table_name), column_name),
        1000000 * row_number() over (order by table_name))
      from information_schema.columns where table_schema = 'public' and is_identity = 'YES'`);
  } finally {
    await client.end();
  }
}

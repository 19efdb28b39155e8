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

/** Every place of an input that may name a thing: fields called an id or a reference, as the contract has them. */
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
    // A Unique ID names a thing within a reference; elsewhere it is one that is about to be given.
    const isSlug = name === 'slug' && /Ref$/.test(String(place.at(-1)));
    const isId = (isSlug || /^id$|Id$|Ids$|_id$/.test(name)) && field.type !== 'object';
    return isId ? [field.type === 'array' ? [...here, 0] : here, ...walk(field, here)] : walk(field, here);
  });
  return [...inside, ...fields, ...(schema.items ? walk(schema.items, [...place, 0]) : [])];
}

/** A copy with one value changed, objects and lists on the way to it made where there are none. */
export function withValueAt(value: unknown, [name, ...rest]: Place, changed: unknown): unknown {
  if (name === undefined) return changed;
  if (typeof name === 'number') return [withValueAt((value as unknown[] | undefined)?.[name], rest, changed)];
  return {
    ...(value as object),
    [name]: withValueAt((value as Record<string, unknown> | undefined)?.[name], rest, changed),
  };
}

/** Has each table number its rows in a million of its own, so that no id is also another thing's. */
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

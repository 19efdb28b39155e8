import type { Call } from '@stagi/contract/call.ts';
import { EXAMPLES, FIELD_EXAMPLES } from './exampleValues.ts';
import { type JsonSchema, jsonSchema, resolved, variantsOf } from './jsonSchema.ts';

/** Of a call that lists. */
const LIST = { entityFilterRequest: { page: 1, limit: 20 } };

/** An input that the call accepts: its required fields, with telling values. */
export function exampleInput(domain: string, name: string, call: Call): unknown {
  const given = EXAMPLES[`${domain}.${name}`];
  if (given !== undefined) return given;
  const schema = jsonSchema(call.input, 'input');
  if (schema.properties?.entityFilterRequest && !schema.required?.length) return LIST;
  return exampleOf(schema, schema, '');
}

/** An example of a schema. `field` is the name of the field that it is of. */
export function exampleOf(schema: JsonSchema, root: JsonSchema, field: string): unknown {
  const [first = {}] = variantsOf(resolved(schema, root));
  const own = resolved(first, root);
  if (own.const !== undefined) return own.const;
  const known = FIELD_EXAMPLES[field];
  if (own.enum) return own.enum.includes(known) ? known : own.enum[0];
  if (own.type === 'array') {
    const count = Math.max(1, own.minItems ?? 0);
    return Array.from({ length: count }, () => exampleOf(own.items ?? {}, root, field.replace(/s$/, '')));
  }
  if (own.properties) {
    const required = own.required ?? [];
    return Object.fromEntries(required.map((name) => [name, exampleOf(own.properties?.[name] ?? {}, root, name)]));
  }
  if (own.type === 'object') return {};
  if (own.format === 'uuid') return '3f0e9f5c-6a53-4c0b-9d2b-5f1f6a1c2e7d';
  if (known !== undefined && typeof known === String(own.type).replace('integer', 'number')) return known;
  if (own.type === 'boolean') return true;
  if (own.type === 'null') return null;
  if (own.type === 'number' || own.type === 'integer') return exampleNumber(own);
  return exampleString(own, field);
}

function exampleNumber(schema: JsonSchema): number {
  if (typeof schema.default === 'number') return schema.default;
  const least = schema.minimum ?? (schema.exclusiveMinimum !== undefined ? schema.exclusiveMinimum + 1 : 0);
  return Math.max(least, Math.min(1, schema.maximum ?? 1));
}

function exampleString(schema: JsonSchema, field: string): string {
  if (schema.format === 'date-time') return '2026-12-01T00:00:00.000Z';
  if (schema.format === 'date') return '2026-12-01';
  if (schema.format === 'uri') return 'https://example.com/';
  return 'example'.padEnd(schema.minLength ?? 0, 'x').slice(0, schema.maxLength) || field;
}

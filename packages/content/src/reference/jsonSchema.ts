import { z } from 'zod';

/** The part of JSON Schema that the contract's shapes come out as. */
export interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  default?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  additionalProperties?: boolean | JsonSchema;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
}

export function jsonSchema(type: z.ZodType, io: 'input' | 'output'): JsonSchema {
  return z.toJSONSchema(type, { io, unrepresentable: 'any' }) as JsonSchema;
}

/** The alternatives of a union, without unions within; of anything else itself. */
export function variantsOf(schema: JsonSchema): JsonSchema[] {
  const among = schema.anyOf ?? schema.oneOf;
  if (among) return among.flatMap(variantsOf);
  const { type } = schema;
  return Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : [schema];
}

/** Follows a reference within the document. */
export function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  if (schema.$ref === '#') return root;
  const name = schema.$ref.replace(/^#\/(\$defs|definitions)\//, '');
  const found = root.$defs?.[name];
  if (!found) throw new Error(`no schema ${schema.$ref}`);
  return found;
}

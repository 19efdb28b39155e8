import { type JsonSchema, resolved, variantsOf } from './jsonSchema.ts';

export interface FieldRow {
  /** With the fields around it: `entity.ports[].host`. */
  field: string;
  type: string;
  isRequired: boolean;
  /** Which values it may have, where they are few. */
  values: string[];
  /** What else a value must keep to. */
  limits: string[];
  /** The shape in a form to compare, for fields that have fields themselves. */
  shape: string | null;
}

/** Deeper fields are not listed; a shape that holds itself would have no end. */
const DEEPEST = 5;

/** A row for each field of an object, and below it for the fields of what it holds. */
export function fieldRows(schema: JsonSchema, root: JsonSchema = schema, prefix = '', depth = 0): FieldRow[] {
  const objects = variantsOf(resolved(schema, root))
    .map((variant) => resolved(variant, root))
    .filter((variant) => variant.properties);
  const names = [...new Set(objects.flatMap((object) => Object.keys(object.properties ?? {})))];
  return names.flatMap((name) => {
    const holders = objects.filter((object) => object.properties?.[name]);
    const isRequired =
      holders.length === objects.length && holders.every((object) => object.required?.includes(name) === true);
    const field = merged(holders.map((object) => object.properties?.[name] ?? {}));
    const { inner, suffix } = innerOf(field, root);
    const hasFields = variantsOf(inner).some((variant) => resolved(variant, root).properties);
    const row: FieldRow = {
      field: `${prefix}${name}`,
      type: typeOf(field, root),
      isRequired,
      values: collected(field, root, valuesOf),
      limits: [...collected(field, root, limitsOf), ...defaultOf(field)],
      shape: hasFields ? JSON.stringify(inner) : null,
    };
    const isSelf = inner.$ref !== undefined && depth > 0;
    if (!hasFields || depth >= DEEPEST || isSelf) return [row];
    return [row, ...fieldRows(inner, root, `${prefix}${name}${suffix}.`, depth + 1)];
  });
}

/** The same field in several variants: their union, each shape once. */
function merged(schemas: readonly JsonSchema[]): JsonSchema {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
  return different.length === 1 && different[0] ? different[0] : { anyOf: different };
}

/** What is within a list or a table of names, with how a field's name says so. */
function innerOf(schema: JsonSchema, root: JsonSchema): { inner: JsonSchema; suffix: string } {
  const real = variantsOf(schema).filter((variant) => variant.type !== 'null');
  const [only] = real;
  const whole = only && real.length === 1 ? resolved(only, root) : null;
  if (whole?.type === 'array' && whole.items) {
    const deeper = innerOf(whole.items, root);
    return { inner: deeper.inner, suffix: `[]${deeper.suffix}` };
  }
  if (whole?.type === 'object' && !whole.properties && typeof whole.additionalProperties === 'object') {
    const deeper = innerOf(whole.additionalProperties, root);
    return { inner: deeper.inner, suffix: `.*${deeper.suffix}` };
  }
  return { inner: only && real.length === 1 ? only : { anyOf: real }, suffix: '' };
}

/** Words such as `string or null`, `array of object`. */
export function typeOf(schema: JsonSchema, root: JsonSchema): string {
  const names = [...new Set(variantsOf(schema).map((variant) => simpleType(variant, root)))];
  return names.length > 4 ? 'one of several shapes' : names.join(' or ');
}

function simpleType(schema: JsonSchema, root: JsonSchema): string {
  const own = resolved(schema, root);
  if (own.const !== undefined) return JSON.stringify(own.const);
  if (own.anyOf ?? own.oneOf) return typeOf(own, root);
  if (own.enum) return own.enum.length <= 3 ? own.enum.map((one) => JSON.stringify(one)).join(' or ') : 'string';
  if (own.type === 'array') return `array of ${own.items ? typeOf(own.items, root) : 'anything'}`;
  if (own.type === 'object' && !own.properties && typeof own.additionalProperties === 'object') {
    return `object of ${typeOf(own.additionalProperties, root)} by name`;
  }
  return String(own.type ?? 'anything');
}

const LARGEST = Number.MAX_SAFE_INTEGER;

function collected(schema: JsonSchema, root: JsonSchema, read: (variant: JsonSchema) => string[]): string[] {
  return [...new Set(variantsOf(schema).flatMap((variant) => read(resolved(variant, root))))];
}

function defaultOf({ default: value }: JsonSchema): string[] {
  return value === undefined || (typeof value === 'object' && value !== null)
    ? []
    : [`default ${JSON.stringify(value)}`];
}

function valuesOf(schema: JsonSchema): string[] {
  const found: string[] = [];
  const { enum: values, format, items } = schema;
  if (values && values.length > 3) found.push(`one of ${values.map((one) => JSON.stringify(one)).join(', ')}`);
  if (format) found.push(format);
  if (items) found.push(...valuesOf(items).map((value) => `each ${value}`));
  return found;
}

function limitsOf(schema: JsonSchema): string[] {
  const limits: string[] = [];
  const { minLength, maxLength, minItems, maxItems } = schema;
  const length = span(minLength, maxLength, (n) => `${n} characters`);
  if (length) limits.push(length);
  const items = span(minItems, maxItems, (n) => (n === 1 ? '1 entry' : `${n} entries`));
  if (items) limits.push(items);
  const least = schema.minimum !== undefined && schema.minimum > -LARGEST ? schema.minimum : undefined;
  const most = schema.maximum !== undefined && schema.maximum < LARGEST ? schema.maximum : undefined;
  const range = span(least, most, String);
  if (range) limits.push(range);
  const above = schema.exclusiveMinimum;
  if (above !== undefined && above > -LARGEST) limits.push(`more than ${above}`);
  if (schema.exclusiveMaximum !== undefined) limits.push(`less than ${schema.exclusiveMaximum}`);
  if (schema.multipleOf !== undefined) limits.push(`a multiple of ${schema.multipleOf}`);
  if (schema.items) limits.push(...limitsOf(schema.items).map((limit) => `each ${limit}`));
  return limits;
}

function span(
  least: number | undefined,
  most: number | undefined,
  words: (n: number | string) => string,
): string | null {
  if (least === most && least !== undefined) return words(least);
  if (least && most !== undefined) return words(`${least} to ${most}`);
  if (most !== undefined) return `at most ${words(most)}`;
  return least ? `at least ${words(least)}` : null;
}

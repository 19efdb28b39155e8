import { z } from 'zod';
import { everyCall } from './api.ts';
import { BRAND } from './brand.ts';
import { API_PREFIX, type Call, needsIdempotencyKey } from './call.ts';
import { NAMED_SCHEMAS } from './namedSchemas.ts';

/** The OpenAPI 3.1 document, generated from the call table. */
export function openapi(): Record<string, unknown> {
  const paths: Record<string, unknown> = {};
  const schemas: Record<string, unknown> = {};
  for (const call of everyCall()) paths[API_PREFIX + call.path] = { post: operation(call, schemas) };
  return {
    openapi: '3.1.0',
    info: { title: `${BRAND} API`, version: '1' },
    security: [{ bearer: [] }],
    components: { securitySchemes: SECURITY_SCHEMES, parameters: PARAMETERS, responses: RESPONSES, schemas },
    paths,
  };
}

const SECURITY_SCHEMES = { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } };

const PARAMETERS = {
  workspace: {
    name: 'X-Client-ID',
    in: 'header',
    required: true,
    schema: { type: 'integer' },
    description: 'The workspace.',
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    schema: { type: 'string', maxLength: 200 },
  },
};

const RESPONSES = {
  refused: {
    description: 'Refused.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
  },
};

function operation(call: Call, schemas: Record<string, unknown>): Record<string, unknown> {
  const parameters = [
    ...(call.auth === 'public' || call.auth === 'signed-in' ? [] : ['workspace']),
    ...(needsIdempotencyKey(call.path) ? ['idempotencyKey'] : []),
  ].map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const answer = call.streamed ? call.output : z.union([call.output, NAMED_SCHEMAS.ErrorBody]);
  return {
    operationId: call.path.replaceAll('/', '.'),
    summary: call.summary,
    tags: [call.path.split('/')[0]],
    ...(call.auth === 'public' ? { security: [] } : {}),
    ...(Array.isArray(call.auth) ? { 'x-permissions': call.auth } : {}),
    ...(call.stepUp ? { 'x-step-up': true } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaOf(call.input, 'input', schemas) } },
    },
    responses: {
      200: {
        description: 'Done, or refused with isSuccess false.',
        content: { [call.streamed ?? 'application/json']: { schema: schemaOf(answer, 'output', schemas) } },
      },
      default: { $ref: '#/components/responses/refused' },
    },
  };
}

type Io = 'input' | 'output';

const names = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries(NAMED_SCHEMAS)) names.add(schema, { id });

/**
 * Named shapes are collected in `schemas`. Those of an input have a name of their own, since a caller may leave out what
 * has a default.
 */
export function schemaOf(type: z.ZodType, io: Io, schemas: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, ...whole } = z.toJSONSchema(type, { io, unrepresentable: 'any', metadata: names });
  const suffix = io === 'input' ? 'Input' : '';
  const text = JSON.stringify(whole).replaceAll(/"#\/\$defs\/(\w+)"/g, `"#/components/schemas/$1${suffix}"`);
  const { $defs = {}, ...rest } = JSON.parse(text) as { $defs?: Record<string, { id?: string }> };
  for (const [name, { id: __, ...shape }] of Object.entries($defs)) schemas[name + suffix] = shape;
  return rest;
}

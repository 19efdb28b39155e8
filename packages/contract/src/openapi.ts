import { z } from 'zod';
import { everyCall } from './api.ts';
import { BRAND } from './brand.ts';
import { API_PREFIX, needsIdempotencyKey } from './call.ts';
import { ErrorBodySchema } from './errorBody.ts';

/** The OpenAPI 3.1 document, generated from the call table. */
export function openapi(): Record<string, unknown> {
  const paths: Record<string, unknown> = {};
  const shapes: Record<string, unknown> = {};
  const schema = (type: z.ZodType, io: Io) => schemaOf(type, io, shapes);
  const json = (type: z.ZodType, io: Io) => ({ 'application/json': { schema: schema(type, io) } });
  for (const call of everyCall()) {
    const parameters: unknown[] = [];
    if (call.auth !== 'public' && call.auth !== 'signed-in') {
      parameters.push({
        name: 'X-Client-ID',
        in: 'header',
        required: true,
        schema: { type: 'integer' },
        description: 'The workspace.',
      });
    }
    if (needsIdempotencyKey(call.path)) {
      parameters.push({
        name: 'Idempotency-Key',
        in: 'header',
        required: true,
        schema: { type: 'string', maxLength: 200 },
      });
    }
    paths[API_PREFIX + call.path] = {
      post: {
        operationId: call.path.replaceAll('/', '.'),
        summary: call.summary,
        tags: [call.path.split('/')[0]],
        ...(call.auth === 'public' ? { security: [] } : {}),
        ...(Array.isArray(call.auth) ? { 'x-permissions': call.auth } : {}),
        ...(call.stepUp ? { 'x-step-up': true } : {}),
        ...(parameters.length > 0 ? { parameters } : {}),
        requestBody: { required: true, content: json(call.input, 'input') },
        responses: {
          200: {
            description: 'Done, or refused with isSuccess false.',
            content: call.streamed
              ? { [call.streamed]: { schema: schema(call.output, 'output') } }
              : json(z.union([call.output, ErrorBodySchema]), 'output'),
          },
          default: {
            description: 'Refused.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
          },
        },
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: `${BRAND} API`, version: '1' },
    security: [{ bearer: [] }],
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { ErrorBody: schema(ErrorBodySchema, 'output'), ...shapes },
    },
    paths,
  };
}

type Io = 'input' | 'output';

/** Shapes that hold themselves are collected in `shapes`, by their name. */
function schemaOf(type: z.ZodType, io: Io, shapes: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, ...whole } = z.toJSONSchema(type, { io, unrepresentable: 'any' });
  const text = JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $defs, ...rest } = JSON.parse(text) as Record<string, unknown>;
  Object.assign(shapes, $defs);
  return rest;
}

import { createHash } from 'node:crypto';
import { openapi } from '@stagi/contract/openapi.ts';
import type { FastifyInstance } from 'fastify';

interface Description {
  json: string;
  etag: string;
}

/** The description of the API. It takes a third of a second to write and stays the same, so it is written once. */
export function mountDescription(app: FastifyInstance): void {
  let written: Description | undefined;
  app.get('/openapi.json', (request, reply) => {
    written ??= write();
    const { json, etag } = written;
    void reply.headers({ etag, 'cache-control': 'no-cache' });
    const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (known.includes(etag) || known.includes('*')) return reply.status(304).send();
    return reply.type('application/json; charset=utf-8').send(json);
  });
}

function write(): Description {
  const json = JSON.stringify(openapi());
  return { json, etag: `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"` };
}

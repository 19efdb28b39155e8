import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { readFile } from '../files/keep.ts';
import { notFound } from '../http/errors.ts';
import { PICTURES } from './profilePicture.ts';

const NAME = /^[\w-]{24}$/;

/** Untrusted, though re-encoded: browsers must not show it as a page of ours. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; sandbox",
  'content-disposition': 'attachment; filename="picture"',
  'cross-origin-resource-policy': 'same-origin',
  // Another picture has another name.
  'cache-control': 'private, max-age=31536000, immutable',
};

/** Profile pictures. `<img>` sends no token, so the random name is what grants access. */
export function mountPictures(app: FastifyInstance, ctx: Pick<Context, 'db' | 'files'>): void {
  app.get<{ Params: { name: string } }>(`${PICTURES}:name`, async ({ params: { name } }, reply) => {
    if (!NAME.test(name)) throw notFound();
    const picture = await ctx.db
      .selectFrom('user_picture')
      .select(['mime_type', 'content', 'file_id'])
      .where('name', '=', name)
      .executeTakeFirst();
    if (!picture) throw notFound();
    const content = picture.content ?? (await readFile(ctx, picture.file_id!));
    return reply.headers(HEADERS).type(picture.mime_type).send(content);
  });
}

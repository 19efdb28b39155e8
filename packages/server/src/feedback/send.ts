import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import { type ReencodedImage, reencodeImage } from '../pictures/reencodeImage.ts';

type Caller = Pick<Context, 'db' | 'config'> & { user: { id: number }; userAgent: string | null };

/** Failed attempts count too: decoding images costs more than sending them. */
const tries = createRateLimiter({ points: 20, duration: 600 });

/** Stores feedback with its images re-encoded. */
export async function sendFeedback(ctx: Caller, input: ParsedInputOf<typeof api.feedback.send>): Promise<void> {
  await consumePoint(tries(ctx), ctx.user.id);
  const images: (ReencodedImage & { fileName: string })[] = [];
  for (const [index, { contentBase64, fileName }] of input.imageUploads.entries()) {
    const drawn = await reencodeImage(contentBase64, `imageUploads.${index}.contentBase64`);
    images.push({ ...drawn, fileName: shortName(fileName) });
  }
  await inTransaction(ctx.db, async (trx) => {
    const { id } = await trx
      .insertInto('feedback')
      .values({
        user_id: ctx.user.id,
        topic: input.topic,
        subject: storable(input.subject),
        description: storable(input.description),
        contact_email: input.contactEmail || null,
        user_agent: ctx.userAgent ? storable(ctx.userAgent).slice(0, 400) : null,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    if (images.length === 0) return;
    await trx
      .insertInto('feedback_image')
      .values(
        images.map((image, position) => ({
          feedback_id: id,
          position,
          file_name: image.fileName,
          mime_type: image.mimeType,
          width: image.width,
          height: image.height,
          content: image.content,
        })),
      )
      .execute();
  });
}

/** PostgreSQL cannot store NUL. */
const storable = (text: string): string => text.replaceAll('\0', '');

/** Shown only: without folders and control characters. */
function shortName(fileName: string): string {
  const name = fileName.split(/[/\\]/).pop() ?? '';
  return name.replace(/\p{C}/gu, '').slice(-200);
}

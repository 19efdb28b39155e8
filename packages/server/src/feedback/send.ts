import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import { limiterOf, takePoint } from '../http/takePoint.ts';
import { type DrawnImage, redraw } from '../images/redraw.ts';

type Caller = Pick<Context, 'db' | 'config'> & { user: { id: number }; userAgent: string | null };

/** A try counts, not only what was kept: looking at images takes more than sending them. */
const tries = limiterOf({ points: 20, duration: 600 });

/** Keeps what somebody tells the operators, with the images drawn anew. */
export async function sendFeedback(ctx: Caller, input: ParsedInputOf<typeof api.feedback.send>): Promise<void> {
  await takePoint(tries(ctx), ctx.user.id);
  const images: (DrawnImage & { fileName: string })[] = [];
  for (const [index, { contentBase64, fileName }] of input.imageUploads.entries()) {
    const drawn = await redraw(contentBase64, `imageUploads.${index}.contentBase64`);
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

/** PostgreSQL keeps every character but one. */
const storable = (text: string): string => text.replaceAll('\0', '');

/** For people to read only: no folder, no control character. */
function shortName(fileName: string): string {
  const name = fileName.split(/[/\\]/).pop() ?? '';
  return name.replace(/\p{C}/gu, '').slice(-200);
}

import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { plainLine } from '@stagi/contract/plainText.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../db/pool.ts';
import type { Db } from '../db/schema.ts';
import { keepFile, type StagedFile, withStagedFiles } from '../files/keep.ts';
import { consumePoint, createRateLimiter } from '../http/rateLimit.ts';
import { type ReencodedImage, reencodeImage } from '../pictures/reencodeImage.ts';

const NAME_MOST = 200;

type Caller = Pick<Context, 'db' | 'config' | 'files' | 'log'> & { user: { id: number }; userAgent: string | null };

type Input = ParsedInputOf<typeof api.feedback.send>;
type NamedImage = ReencodedImage & { fileName: string };

/** Failed attempts count too: decoding images costs more than sending them. */
const tries = createRateLimiter({ points: 20, duration: 600 });

/** Stores feedback with its images re-encoded. */
export async function sendFeedback(ctx: Caller, input: Input): Promise<void> {
  await consumePoint(tries(ctx), ctx.user.id);
  const images: NamedImage[] = [];
  for (const [index, { contentBase64, fileName }] of input.imageUploads.entries()) {
    const drawn = await reencodeImage(contentBase64, `imageUploads.${index}.contentBase64`);
    images.push({ ...drawn, fileName: shortName(fileName) });
  }
  const contents = images.map(({ content }) => content);
  await withStagedFiles(ctx, contents, (staged) =>
    inTransaction(ctx.db, (trx) => store(trx, ctx, input, images, staged)),
  );
}

async function store(
  trx: Db,
  ctx: Caller,
  input: Pick<Input, 'topic' | 'subject' | 'description' | 'contactEmail'>,
  images: readonly NamedImage[],
  staged: readonly StagedFile[],
): Promise<void> {
  const { id } = await trx
    .insertInto('feedback')
    .values({
      user_id: ctx.user.id,
      topic: input.topic,
      subject: input.subject,
      description: input.description,
      contact_email: input.contactEmail || null,
      user_agent: ctx.userAgent,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (images.length === 0) return;
  for (const file of staged) await keepFile(trx, file);
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
        file_id: staged[position]!.id,
      })),
    )
    .execute();
}

/** Shown only: without folders and what hides. */
function shortName(fileName: string): string {
  const name = fileName.split(/[/\\]/).pop() ?? '';
  return plainLine(name.slice(-NAME_MOST), NAME_MOST);
}

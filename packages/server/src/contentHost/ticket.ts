import { z } from 'zod';
import type { Context } from '../context.ts';

const PLACE = 'content|preview';
export const PREVIEW_MINUTES = 10;

/** What a preview link shows, and with whose access key. */
const Preview = z.tuple([z.string(), z.base64url(), z.string(), z.number()]);

export interface PreviewedObject {
  bucket: string;
  key: string;
  accessKeyId: string;
}

type Sealer = Pick<Context, 'secrets'>;

/** A sealed text for the address of a preview. The object's key is in base64, as escaping it could make it six times as long. */
export function sealTicket(
  { secrets }: Sealer,
  { bucket, key, accessKeyId }: PreviewedObject,
  expiresAt: Date,
): string {
  const preview: z.infer<typeof Preview> = [
    bucket,
    Buffer.from(key).toString('base64url'),
    accessKeyId,
    expiresAt.getTime(),
  ];
  return secrets.seal(JSON.stringify(preview), PLACE);
}

/** Null: not ours, or changed. */
export function openTicket({ secrets }: Sealer, ticket: string): (PreviewedObject & { isExpired: boolean }) | null {
  let plain: string;
  try {
    plain = secrets.open(ticket, PLACE);
  } catch {
    // Anybody may write anything into an address.
    return null;
  }
  const [bucket, key, accessKeyId, expiresAt] = Preview.parse(JSON.parse(plain));
  return { bucket, key: Buffer.from(key, 'base64url').toString(), accessKeyId, isExpired: expiresAt <= Date.now() };
}

import { S3_REGION } from '@stagi/contract/storageRules.ts';
import { presignUrl } from '@stagi/s3/presign.ts';
import type { Context } from '../context.ts';

/** The longest that a signature allows: links end with the run. */
const LINK_LIFETIME_S = 7 * 24 * 60 * 60;

interface Link {
  method: 'GET' | 'PUT';
  bucket: string;
  key: string;
  query?: Record<string, string>;
}

/** A link for a machine, at the address of the S3 service that machines reach. */
export const linkFor = (
  ctx: Pick<Context, 's3MachineOrigin' | 'clock'>,
  signer: { accessKeyId: string; secretAccessKey: string },
  link: Link,
): string =>
  presignUrl({
    ...link,
    ...signer,
    origin: ctx.s3MachineOrigin,
    region: S3_REGION,
    expiresInSeconds: LINK_LIFETIME_S,
    now: ctx.clock.now(),
  });

import { text } from '@stagi/contract/text.ts';
import { S3Error } from '@stagi/s3/errors.ts';
import { conflict, notFound, refused } from '../http/errors.ts';

/** What the store of objects refuses, in words for people. */
export async function withPublicErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    switch (error.code) {
      case 'QuotaExceeded':
        throw refused(text('The storage is full: make it larger or delete objects'));
      case 'NoSuchUpload':
      case 'NoSuchBucket':
      case 'NoSuchKey':
        throw notFound();
      case 'InvalidPart':
        throw conflict(text('The parts of this upload have changed meanwhile'));
      case 'AccessDenied':
        throw refused(text('Nothing can be written to this storage now'));
      default:
        throw error;
    }
  }
}

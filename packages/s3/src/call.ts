import type { Readable } from 'node:stream';
import type { Payload } from './authenticate.ts';
import type { S3Backend, S3Bucket, S3Key } from './backend.ts';
import type { S3Request } from './request.ts';

/** An authenticated request. */
export interface S3Call {
  backend: S3Backend;
  request: S3Request;
  by: S3Key;
  payload: Payload;
  /** The body as it comes. A client that waits for `100 Continue` gets it when this is first read. */
  source: AsyncIterable<Buffer>;
}

/** Its key may read or write this bucket, as the operation needs. */
export interface BucketCall extends S3Call {
  bucket: S3Bucket;
}

/** Its key may read or write this object. */
export interface ObjectCall extends BucketCall {
  key: string;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  /** Text is XML. A stream has the length of the header `content-length`. */
  body?: string | Readable;
}

import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { BLOB_NAME, BlobMissing, type BlobStore } from '@stagi/s3/blobStore.ts';
import type { S3Location } from '../config/objectStorage.ts';

/** A blob of unknown length is sent in parts of this size, two of which are in memory. 10,000 parts: 80 GB. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_IN_FLIGHT = 2;
const ATTEMPTS = 4;
const CONNECT_MS = 5_000;
/** For the head of an answer: a part has been sent by then. */
const ANSWER_MS = 120_000;
const CONNECTIONS = 500;

/** Another S3 did not do what it was asked, however often. Its own error is the `cause`. */
export class LocationFailed extends Error {}

/** Blobs as objects in one bucket of another S3. */
export function openS3Store(location: S3Location): BlobStore & { close(): void } {
  const client = new S3Client({
    endpoint: location.endpoint,
    region: location.region,
    credentials: { accessKeyId: location.accessKeyId, secretAccessKey: location.secretAccessKey },
    forcePathStyle: true,
    maxAttempts: ATTEMPTS,
    // Older services do not know the checksums that the client otherwise adds.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      httpAgent: { maxSockets: CONNECTIONS },
      httpsAgent: { maxSockets: CONNECTIONS },
    },
  });
  const at = (name: string) => {
    if (!BLOB_NAME.test(name)) throw new Error(`not a blob name: ${JSON.stringify(name)}`);
    return { Bucket: location.bucket, Key: name };
  };

  return {
    async put(name, body) {
      const target = at(name);
      let size = 0;
      let bodyFailed: { error: unknown } | null = null;
      async function* counted(): AsyncIterable<Uint8Array> {
        try {
          for await (const chunk of body) {
            size += chunk.length;
            yield chunk;
          }
        } catch (error) {
          bodyFailed = { error };
          throw error;
        }
      }
      const upload = new Upload({
        client,
        params: { ...target, Body: Readable.from(counted(), { objectMode: false }) },
        partSize: PART_BYTES,
        queueSize: PARTS_IN_FLIGHT,
      });
      try {
        await upload.done();
        return size;
      } catch (error) {
        if (bodyFailed) throw (bodyFailed as { error: unknown }).error;
        throw failed(location, 'write', error);
      }
    },

    async get(name, range) {
      try {
        const { Body } = await client.send(
          new GetObjectCommand({ ...at(name), ...(range && { Range: `bytes=${range.start}-${range.end}` }) }),
        );
        return Body as Readable;
      } catch (error) {
        if (isMissing(error)) throw new BlobMissing(name);
        throw failed(location, 'read', error);
      }
    },

    async head(name) {
      try {
        const { ContentLength, LastModified } = await client.send(new HeadObjectCommand(at(name)));
        return { name, size: ContentLength ?? 0, modifiedAt: LastModified ?? new Date(0) };
      } catch (error) {
        if (isMissing(error)) return null;
        throw failed(location, 'read', error);
      }
    },

    async *list(prefix) {
      let token: string | undefined;
      do {
        const page = await client
          .send(new ListObjectsV2Command({ Bucket: location.bucket, Prefix: prefix, ContinuationToken: token }))
          .catch((error: unknown) => {
            throw failed(location, 'list', error);
          });
        // What others keep in the same bucket is none of ours.
        for (const { Key, Size, LastModified } of page.Contents ?? [])
          if (Key && BLOB_NAME.test(Key)) yield { name: Key, size: Size ?? 0, modifiedAt: LastModified ?? new Date(0) };
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (token);
    },

    async remove(name) {
      try {
        await client.send(new DeleteObjectCommand(at(name)));
      } catch (error) {
        if (!isMissing(error)) throw failed(location, 'remove', error);
      }
    },

    close: () => client.destroy(),
  };
}

const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceException &&
  error.name !== 'NoSuchBucket' &&
  (error.name === 'NoSuchKey' || error.$metadata.httpStatusCode === 404);

function failed(location: S3Location, act: string, cause: unknown): LocationFailed {
  const { name, message } = cause as Error;
  return new LocationFailed(`cannot ${act} at location ${location.name} (${location.endpoint}): ${name}: ${message}`, {
    cause,
  });
}

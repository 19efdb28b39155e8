import { Agent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import { S3_REGION } from '@stagi/contract/storageRules.ts';
import { presignUrl } from '@stagi/s3/presign.ts';
import type { Context } from '../context.ts';

/** An object, and the access key that opens it. */
export interface OpenedObject {
  bucket: string;
  key: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** The S3 service answers its headers within this time. */
const ANSWER_MS = 30_000;
const SIGNED_FOR_S = 60;

const agent = new Agent({ keepAlive: true });
const tlsAgent = new TlsAgent({ keepAlive: true });

/** Asks the S3 service for an object, by a presigned request of its key. The request ends with `gone`, also while its answer is read. */
export function askObject(
  { config }: Pick<Context, 'config'>,
  object: OpenedObject,
  { method, headers, gone }: { method: 'GET' | 'HEAD'; headers: OutgoingHttpHeaders; gone: AbortSignal },
): Promise<IncomingMessage> {
  const origin = config.s3InternalOrigin;
  const link = presignUrl({
    ...object,
    origin,
    method,
    region: S3_REGION,
    expiresInSeconds: SIGNED_FOR_S,
    now: new Date(),
  });
  const { protocol, hostname, port } = new URL(origin);
  const isTls = protocol === 'https:';
  return new Promise((resolve, reject) => {
    const asked = (isTls ? httpsRequest : httpRequest)(
      // Not as a URL, which would resolve `..` in an object's key.
      { protocol, hostname, port, path: link.slice(origin.length), method, headers, agent: isTls ? tlsAgent : agent },
      resolve,
    );
    const stop = (): void => void asked.destroy();
    const late = setTimeout(() => asked.destroy(new Error('the S3 service does not answer')), ANSWER_MS);
    gone.addEventListener('abort', stop, { once: true });
    asked.once('response', () => clearTimeout(late));
    asked.once('close', () => {
      clearTimeout(late);
      gone.removeEventListener('abort', stop);
    });
    asked.once('error', reject);
    if (gone.aborted) stop();
    asked.end();
  });
}

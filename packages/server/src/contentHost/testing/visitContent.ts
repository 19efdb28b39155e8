import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { createS3Key } from '../../objects/keys.ts';
import type { TestApp } from '../../testing/app.ts';
import type { Person } from '../../testing/person.ts';

export interface ContentAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Whether all of it came. */
  isComplete: boolean;
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
}

/** The answer's head, with the body still to come. The host is not resolved: it is sent as the `Host` header. */
export function openContent(app: TestApp, link: string, { method = 'GET', headers = {} }: Asked = {}) {
  const url = new URL(link);
  return new Promise<IncomingMessage>((resolve, reject) => {
    request(
      {
        host: '127.0.0.1',
        port: new URL(app.url).port,
        path: url.pathname + url.search,
        method,
        headers: { host: url.host, ...headers },
        agent: false,
      },
      resolve,
    )
      .on('error', reject)
      .end();
  });
}

/** Visits a link to the content host as a browser would. */
export async function visitContent(app: TestApp, link: string, asked: Asked = {}): Promise<ContentAnswer> {
  return readAnswer(await openContent(app, link, asked));
}

export function readAnswer(answer: IncomingMessage): Promise<ContentAnswer> {
  const parts: Buffer[] = [];
  return new Promise((resolve) => {
    answer.on('data', (part: Buffer) => parts.push(part));
    // What is cut off ends with an error, which `complete` tells.
    answer.on('error', () => {});
    answer.on('close', () =>
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        body: Buffer.concat(parts),
        isComplete: answer.complete,
      }),
    );
    // A listener alone does not start what was paused.
    answer.resume();
  });
}

/** Puts objects into a storage with a key of its owner, over the S3 protocol. */
export async function putObjects(
  { ctx }: TestApp,
  owner: Person,
  storageId: number,
  objects: readonly { key: string; type?: string; body: string | Buffer; more?: Record<string, string> }[],
): Promise<void> {
  const bucket = await ctx.db
    .selectFrom('storage')
    .innerJoin('s3_bucket', 's3_bucket.id', 'storage.bucket_id')
    .select(['s3_bucket.id', 's3_bucket.name'])
    .where('storage.id', '=', storageId)
    .executeTakeFirstOrThrow();
  const key = await createS3Key(ctx, ctx.db, {
    purpose: 'person',
    workspaceId: owner.workspaceId,
    bucketId: bucket.id,
    title: 'test',
    mode: 'read-write',
    prefix: '',
    madeBy: owner.userId,
    madeWith: null,
    expiresAt: null,
  });
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${ctx.config.s3Port}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey },
  });
  for (const { key: Key, type, body, more } of objects)
    await client.send(
      new PutObjectCommand({
        Bucket: bucket.name,
        Key,
        Body: body,
        ...(type !== undefined && { ContentType: type }),
        ...more,
      }),
    );
  client.destroy();
}

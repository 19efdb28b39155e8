import { openBody, readSmall } from '../body.ts';
import type { Answer, BucketCall, S3Call } from '../call.ts';
import { S3Error } from '../errors.ts';
import { type Elements, parseXml, textIn, xmlDocument } from '../xml.ts';
import { ownerElements } from './listObjects.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_BUCKETS = 10_000;

export async function listBuckets({ backend, by, request: { query } }: S3Call): Promise<Answer> {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? '';
  const limit = pageSize(query.get('max-buckets'));
  // A name is the token of those that come after it.
  const all = (await backend.listBuckets(by)).filter(({ name }) => name.startsWith(prefix) && name > after);
  const buckets = all.slice(0, limit);
  return {
    status: 200,
    body: xmlDocument('ListAllMyBucketsResult', [
      ['Owner', ownerElements(by.owner)],
      [
        'Buckets',
        buckets.map(({ name, createdAt }): Elements[number] => [
          'Bucket',
          [
            ['Name', name],
            ['CreationDate', createdAt],
          ],
        ]),
      ],
      ['ContinuationToken', buckets.length < all.length ? buckets.at(-1)!.name : null],
      ['Prefix', prefix === '' ? null : prefix],
    ]),
  };
}

function pageSize(text: string | null): number {
  if (text === null) return MAX_BUCKETS;
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > MAX_BUCKETS)
    throw new S3Error('InvalidArgument', `max-buckets must be between 1 and ${MAX_BUCKETS}`);
  return number;
}

export async function createBucket({ backend, by, request, payload, source }: S3Call): Promise<Answer> {
  // Some clients (rclone) make a bucket before they write to it, and go on when it is theirs already.
  if (by.mode === 'read-write' && by.bucket === request.bucket) throw new S3Error('BucketAlreadyOwnedByYou');
  if (!by.managesBuckets || by.mode === 'read-only')
    throw new S3Error('AccessDenied', 'Access Denied: buckets are made by the platform');
  const xml = await readSmall(openBody({ headers: request.headers, payload, source }), MAX_BODY_BYTES);
  // Any location is accepted: there is one.
  if (xml.trim() !== '') textIn(await parseXml(xml, 'CreateBucketConfiguration'), 'LocationConstraint');
  const acl = request.headers.get('x-amz-acl');
  if ((acl !== null && acl !== 'private') || request.headers.startingWith('x-amz-grant-').length > 0)
    throw new S3Error('AccessControlListNotSupported');
  if (request.headers.get('x-amz-bucket-object-lock-enabled')?.toLowerCase() === 'true')
    throw new S3Error('NotImplemented', 'Object Lock is not supported');
  const bucket = await backend.createBucket(by, request.bucket!);
  return { status: 200, headers: { location: `/${bucket.name}` } };
}

export async function deleteBucket({ backend, by, bucket }: BucketCall): Promise<Answer> {
  if (!by.managesBuckets) throw new S3Error('AccessDenied', 'Access Denied: buckets are deleted by the platform');
  await backend.deleteBucket(by, bucket);
  return { status: 204 };
}

export const headBucket = async (): Promise<Answer> => ({
  status: 200,
  headers: { 'x-amz-bucket-region': 'us-east-1' },
});

/** Empty means us-east-1. */
export const getLocation = async (): Promise<Answer> => ({ status: 200, body: xmlDocument('LocationConstraint', []) });

/** Versioning was never switched on. */
export const getVersioning = async (): Promise<Answer> => ({
  status: 200,
  body: xmlDocument('VersioningConfiguration', []),
});

/** The empty answer of settings that a bucket does not have: logging, notification and the like. */
export const emptySetting =
  (root: string, content: Elements = []) =>
  async (): Promise<Answer> => ({
    status: 200,
    body: xmlDocument(root, content),
  });

export const missingSetting = (code: ConstructorParameters<typeof S3Error>[0]) => async (): Promise<Answer> => {
  throw new S3Error(code);
};

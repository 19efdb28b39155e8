import { requireKey } from '../authorize.ts';
import { openBody, readSmall } from '../body.ts';
import type { Answer, BucketCall, ObjectCall } from '../call.ts';
import { unquoted } from '../conditions.ts';
import { S3Error } from '../errors.ts';
import { checkedKey, MAX_KEY_BYTES } from '../request.ts';
import { childrenOf, type Elements, type Parsed, parseXml, requiredText, textIn, xmlDocument } from '../xml.ts';
import { requireNullVersion } from './version.ts';

const MAX_KEYS = 1_000;
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export async function deleteObject({ backend, bucket, by, key, request }: ObjectCall): Promise<Answer> {
  requireNullVersion(request.query);
  for (const header of ['x-amz-if-match-last-modified-time', 'x-amz-if-match-size'])
    if (request.headers.has(header)) throw new S3Error('NotImplemented', `${header} is not supported`);
  const ifMatch = request.headers.get('if-match');
  await backend.deleteObjects(by, bucket, [key], ifMatch === null ? undefined : { ifMatch: unquoted(ifMatch) });
  return { status: 204 };
}

/** What was asked for one key, and why it cannot be. */
interface Wanted {
  key: string;
  /** Deleted only if it has this ETag. */
  etag: string | null;
  refusal: S3Error | null;
}

export async function deleteObjects(call: BucketCall): Promise<Answer> {
  const { backend, bucket, by, request, payload, source } = call;
  const body = openBody({ headers: request.headers, payload, source });
  if (!body.hasDigest) throw new S3Error('InvalidRequest', 'Missing required header for this request: Content-MD5');
  const document = await parseXml(await readSmall(body, MAX_BODY_BYTES), 'Delete');
  const objects = childrenOf(document, 'Object');
  if (objects.length === 0 || objects.length > MAX_KEYS) throw new S3Error('MalformedXML');
  const wanted = objects.map((object) => {
    const key = requiredText(object, 'Key');
    return { key, etag: textIn(object, 'ETag'), refusal: refusalOf(call, key, object) };
  });
  await backend.deleteObjects(
    by,
    bucket,
    wanted.filter(({ refusal, etag }) => !refusal && etag === null).map(({ key }) => key),
  );
  for (const one of wanted)
    if (!one.refusal && one.etag !== null) one.refusal = await deleteIf(call, one.key, one.etag);
  const isQuiet = textIn(document, 'Quiet')?.trim() === 'true';
  return {
    status: 200,
    body: xmlDocument(
      'DeleteResult',
      wanted.flatMap((one) => resultOf(one, isQuiet)),
    ),
  };
}

async function deleteIf({ backend, by, bucket }: BucketCall, key: string, etag: string): Promise<S3Error | null> {
  try {
    await backend.deleteObjects(by, bucket, [key], { ifMatch: unquoted(etag) });
    return null;
  } catch (error) {
    if (error instanceof S3Error && (error.code === 'PreconditionFailed' || error.code === 'NoSuchKey')) return error;
    throw error;
  }
}

function refusalOf({ by }: BucketCall, key: string, object: Parsed): S3Error | null {
  const versionId = textIn(object, 'VersionId');
  try {
    if (key === '') throw new S3Error('MalformedXML');
    requireKey(by, checkedKey(key));
    if (versionId !== null && versionId !== 'null') throw new S3Error('NoSuchVersion');
    // To ignore a condition would delete what the client wants to keep.
    if (textIn(object, 'LastModifiedTime') !== null || textIn(object, 'Size') !== null)
      throw new S3Error('NotImplemented', 'A deletion is conditional on the ETag alone');
    return null;
  } catch (error) {
    if (error instanceof S3Error && error.code !== 'MalformedXML') return error;
    throw error;
  }
}

function resultOf({ key, refusal }: Wanted, isQuiet: boolean): Elements {
  if (refusal)
    return [
      [
        'Error',
        [
          // One that is too long is told by its beginning.
          ['Key', key.slice(0, MAX_KEY_BYTES)],
          ['Code', refusal.code],
          ['Message', refusal.message],
        ],
      ],
    ];
  return isQuiet ? [] : [['Deleted', [['Key', key]]]];
}

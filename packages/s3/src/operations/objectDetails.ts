import type { S3Object, S3Owner } from '../backend.ts';
import { openBody, readSmall } from '../body.ts';
import type { Answer, BucketCall, ObjectCall } from '../call.ts';
import { S3Error } from '../errors.ts';
import type { Headers } from '../request.ts';
import { childrenOf, type Elements, parseXml, textIn, xmlDocument } from '../xml.ts';
import { checksumElements } from './copyObject.ts';
import { requireObject } from './getObject.ts';
import { ownerElements } from './listObjects.ts';
import { requireNullVersion } from './version.ts';

const MAX_PARTS = 1_000;
const MAX_ACL_BYTES = 64 * 1024;
const GRANTEE = 'Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"';

const ATTRIBUTES: Record<string, (object: S3Object, headers: Headers) => Elements> = {
  ETag: ({ etag }) => [['ETag', etag]],
  Checksum: ({ checksum }) => (checksum ? [['Checksum', checksumElements(checksum)]] : []),
  ObjectParts: (object, headers) => (object.isMultipart ? [['ObjectParts', partElements(object, headers)]] : []),
  StorageClass: () => [['StorageClass', 'STANDARD']],
  ObjectSize: ({ size }) => [['ObjectSize', size]],
};

/** A page of the parts, with their sizes; the checksum of a part is not kept. */
function partElements({ blobs }: S3Object, headers: Headers): Elements {
  const number = (name: string, otherwise: number): number => {
    const text = headers.get(name);
    if (text !== null && !/^\d{1,5}$/.test(text)) throw new S3Error('InvalidArgument', `${name} must be an integer`);
    return text === null ? otherwise : Number(text);
  };
  const limit = Math.min(number('x-amz-max-parts', MAX_PARTS), MAX_PARTS);
  const marker = number('x-amz-part-number-marker', 0);
  const page = blobs.slice(marker, marker + limit);
  return [
    ['PartsCount', blobs.length],
    ['PartNumberMarker', marker],
    ['NextPartNumberMarker', marker + page.length],
    ['MaxParts', limit],
    ['IsTruncated', marker + page.length < blobs.length],
    ...page.map(({ size }, index): Elements[number] => [
      'Part',
      [
        ['PartNumber', marker + index + 1],
        ['Size', size],
      ],
    ]),
  ];
}

/** GetObjectAttributes: those that the header names. */
export async function getAttributes(call: ObjectCall): Promise<Answer> {
  const { headers, query } = call.request;
  requireNullVersion(query);
  const names = (headers.get('x-amz-object-attributes') ?? '').split(',').map((name) => name.trim());
  const wanted = names.map((name) => {
    const attribute = ATTRIBUTES[name];
    if (!attribute) throw new S3Error('InvalidArgument', 'Invalid attribute name specified.');
    return attribute;
  });
  const object = await requireObject(call);
  return {
    status: 200,
    headers: { 'last-modified': object.modifiedAt.toUTCString() },
    body: xmlDocument(
      'GetObjectAttributesResponse',
      wanted.flatMap((attribute) => attribute(object, headers)),
    ),
  };
}

export async function getObjectAcl(call: ObjectCall): Promise<Answer> {
  await requireObject(call);
  return acl(call);
}

export const getBucketAcl = async (call: BucketCall): Promise<Answer> => acl(call);

/** The owner has all rights, and nobody else any: access keys decide, not ACLs. */
const acl = ({ bucket: { owner } }: BucketCall): Answer => ({
  status: 200,
  body: xmlDocument('AccessControlPolicy', [
    ['Owner', ownerElements(owner)],
    [
      'AccessControlList',
      [
        [
          'Grant',
          [
            [GRANTEE, ownerElements(owner)],
            ['Permission', 'FULL_CONTROL'],
          ],
        ],
      ],
    ],
  ]),
});

/** The only ACL is the one that there is: some clients (s3cmd) read it and set it again. */
export async function putAcl({
  request: { headers },
  payload,
  source,
  bucket: { owner },
}: BucketCall): Promise<Answer> {
  const canned = headers.get('x-amz-acl');
  const isTheOne =
    canned === null
      ? await onlyGrants(await readSmall(openBody({ headers, payload, source }), MAX_ACL_BYTES), owner)
      : canned === 'private' || canned === 'bucket-owner-full-control';
  if (!isTheOne || headers.startingWith('x-amz-grant-').length > 0) throw new S3Error('AccessControlListNotSupported');
  return { status: 200 };
}

/** Whether a policy in XML gives all rights to the owner, and none to anybody else. */
async function onlyGrants(xml: string, owner: S3Owner): Promise<boolean> {
  if (xml.trim() === '') return false;
  const [list] = childrenOf(await parseXml(xml, 'AccessControlPolicy'), 'AccessControlList');
  const grants = list === undefined ? [] : childrenOf(list, 'Grant');
  return (
    grants.length > 0 &&
    grants.every((grant) => {
      const [grantee] = childrenOf(grant, 'Grantee');
      return (
        grantee !== undefined && textIn(grantee, 'ID') === owner.id && textIn(grant, 'Permission') === 'FULL_CONTROL'
      );
    })
  );
}

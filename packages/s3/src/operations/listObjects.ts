import { requirePrefix } from '../authorize.ts';
import type { ListEntry, ListedObject, ListPage, S3Owner } from '../backend.ts';
import type { Answer, BucketCall } from '../call.ts';
import { S3Error } from '../errors.ts';
import type { Query } from '../request.ts';
import { encodeKey } from '../signature.ts';
import { type Elements, xmlDocument } from '../xml.ts';

const MAX_ENTRIES = 1_000;

/** What both versions of the listing have in common. */
interface Listing {
  prefix: string;
  delimiter: string;
  limit: number;
  encodingType: string | null;
  /** Keys as the client wants them. */
  shown: (key: string) => string;
}

export async function listObjectsV1(call: BucketCall): Promise<Answer> {
  const listing = readListing(call);
  const marker = call.request.query.get('marker') ?? '';
  const page = await listPage(call, listing, marker === '' ? null : marker);
  const next = page.isTruncated && listing.delimiter !== '' ? markerOf(page) : null;
  return {
    status: 200,
    body: xmlDocument('ListBucketResult', [
      ['Name', call.bucket.name],
      ['Prefix', listing.shown(listing.prefix)],
      ['Marker', listing.shown(marker)],
      ['NextMarker', next === null ? null : listing.shown(next)],
      ...commonElements(listing, page),
      ...entryElements(listing, page, call.bucket.owner),
    ]),
  };
}

export async function listObjectsV2(call: BucketCall): Promise<Answer> {
  const { query } = call.request;
  if (query.get('list-type') !== '2') throw new S3Error('InvalidArgument', 'list-type must be 2');
  const listing = readListing(call);
  const token = query.get('continuation-token') || null;
  const startAfter = query.get('start-after');
  const after = token === null ? startAfter || null : markerOfToken(token);
  const page = await listPage(call, listing, after);
  const owner = query.get('fetch-owner') === 'true' ? call.bucket.owner : null;
  return {
    status: 200,
    body: xmlDocument('ListBucketResult', [
      ['Name', call.bucket.name],
      ['Prefix', listing.shown(listing.prefix)],
      ['StartAfter', startAfter === null ? null : listing.shown(startAfter)],
      ['ContinuationToken', query.get('continuation-token')],
      ['NextContinuationToken', page.isTruncated ? tokenOf(markerOf(page)) : null],
      ['KeyCount', page.entries.length],
      ...commonElements(listing, page),
      ...entryElements(listing, page, owner),
    ]),
  };
}

/** Buckets keep no versions, so each object is the only and newest one of its key. */
export async function listVersions(call: BucketCall): Promise<Answer> {
  const listing = readListing(call);
  const marker = call.request.query.get('key-marker') ?? '';
  const page = await listPage(call, listing, marker === '' ? null : marker);
  return {
    status: 200,
    body: xmlDocument('ListVersionsResult', [
      ['Name', call.bucket.name],
      ['Prefix', listing.shown(listing.prefix)],
      ['KeyMarker', listing.shown(marker)],
      ['VersionIdMarker', call.request.query.get('version-id-marker') ?? ''],
      ['NextKeyMarker', page.isTruncated ? listing.shown(markerOf(page)) : null],
      ['NextVersionIdMarker', page.isTruncated ? 'null' : null],
      ...commonElements(listing, page),
      ...page.entries.map((entry): Elements[number] =>
        entry.kind === 'prefix'
          ? prefixElement(listing, entry.prefix)
          : [
              'Version',
              [
                ['Key', listing.shown(entry.object.key)],
                ['VersionId', 'null'],
                ['IsLatest', true],
                ...detailElements(entry.object),
                ['Owner', ownerElements(call.bucket.owner)],
              ],
            ],
      ),
    ]),
  };
}

function readListing({ by, request: { query } }: BucketCall): Listing {
  const prefix = query.get('prefix') ?? '';
  requirePrefix(by, prefix);
  const encodingType = encodingTypeOf(query);
  return {
    prefix,
    delimiter: query.get('delimiter') ?? '',
    limit: limitOf(query, 'max-keys'),
    encodingType,
    shown: shownAs(encodingType),
  };
}

/** S3's encoding leaves slashes as they are. */
export const shownAs = (encodingType: string | null): ((key: string) => string) =>
  encodingType === 'url' ? encodeKey : (key) => key;

export function encodingTypeOf(query: Query): string | null {
  const type = query.get('encoding-type');
  if (type !== null && type !== 'url') throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified');
  return type;
}

/** At most 1,000, whatever is asked for. */
export function limitOf(query: Query, name: string): number {
  const text = query.get(name);
  if (text === null || text === '') return MAX_ENTRIES;
  if (!/^\d{1,10}$/.test(text) || Number(text) > 2 ** 31 - 1)
    throw new S3Error('InvalidArgument', `Provided ${name} not an integer or within integer range`, {
      ArgumentName: name,
      ArgumentValue: text,
    });
  return Math.min(Number(text), MAX_ENTRIES);
}

async function listPage(
  { backend, bucket }: BucketCall,
  { prefix, delimiter, limit }: Listing,
  after: string | null,
): Promise<ListPage> {
  if (limit === 0) return { entries: [], isTruncated: false };
  return backend.listObjects(bucket, { prefix, delimiter, after, limit });
}

const keyOf = (entry: ListEntry): string => (entry.kind === 'object' ? entry.object.key : entry.prefix);

const markerOf = ({ entries }: ListPage): string => keyOf(entries.at(-1)!);

const tokenOf = (marker: string): string => Buffer.from(marker, 'utf8').toString('base64url');

function markerOfToken(token: string): string {
  const marker = Buffer.from(token, 'base64url').toString('utf8');
  if (marker === '' || tokenOf(marker) !== token)
    throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect');
  return marker;
}

const commonElements = ({ delimiter, limit, encodingType, shown }: Listing, { isTruncated }: ListPage): Elements => [
  ['MaxKeys', limit],
  ['Delimiter', delimiter === '' ? null : shown(delimiter)],
  ['EncodingType', encodingType],
  ['IsTruncated', isTruncated],
];

/** Objects, then common prefixes. */
function entryElements(listing: Listing, { entries }: ListPage, owner: S3Owner | null): Elements {
  const objects = entries.flatMap(
    (entry): Elements =>
      entry.kind === 'prefix'
        ? []
        : [
            [
              'Contents',
              [
                ['Key', listing.shown(entry.object.key)],
                ...detailElements(entry.object),
                ['Owner', owner && ownerElements(owner)],
              ],
            ],
          ],
  );
  const prefixes = entries.flatMap(
    (entry): Elements => (entry.kind === 'prefix' ? [prefixElement(listing, entry.prefix)] : []),
  );
  return [...objects, ...prefixes];
}

const prefixElement = ({ shown }: Listing, prefix: string): Elements[number] => [
  'CommonPrefixes',
  [['Prefix', shown(prefix)]],
];

const detailElements = ({ modifiedAt, etag, checksum, size }: ListedObject): Elements => [
  ['LastModified', modifiedAt],
  ['ETag', `"${etag}"`],
  ['ChecksumAlgorithm', checksum?.algorithm ?? null],
  ['ChecksumType', checksum?.type ?? null],
  ['Size', size],
  ['StorageClass', 'STANDARD'],
];

export const ownerElements = ({ id, displayName }: S3Owner): Elements => [
  ['ID', id],
  ['DisplayName', displayName],
];

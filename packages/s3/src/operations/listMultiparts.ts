import { requirePrefix } from '../authorize.ts';
import type { S3Upload } from '../backend.ts';
import type { Answer, BucketCall, ObjectCall } from '../call.ts';
import { S3Error } from '../errors.ts';
import { type Elements, xmlDocument } from '../xml.ts';
import { checksumElements } from './copyObject.ts';
import { encodingTypeOf, limitOf, ownerElements, shownAs } from './listObjects.ts';
import { requireUpload } from './multipart.ts';

export async function listParts(call: ObjectCall): Promise<Answer> {
  const { backend, bucket, key, request } = call;
  const upload = await requireUpload(call);
  const marker = request.query.get('part-number-marker') ?? '0';
  if (!/^\d{1,5}$/.test(marker)) throw new S3Error('InvalidArgument', 'part-number-marker must be an integer');
  const limit = limitOf(request.query, 'max-parts');
  const encodingType = encodingTypeOf(request.query);
  const { parts, isTruncated } = await backend.listParts(upload, Number(marker), limit);
  return {
    status: 200,
    body: xmlDocument('ListPartsResult', [
      ['Bucket', bucket.name],
      ['Key', shownAs(encodingType)(key)],
      ['UploadId', upload.id],
      ['PartNumberMarker', Number(marker)],
      ['NextPartNumberMarker', parts.at(-1)?.number ?? Number(marker)],
      ['MaxParts', limit],
      ['IsTruncated', isTruncated],
      ['EncodingType', encodingType],
      ...parts.map((part): Elements[number] => [
        'Part',
        [
          ['PartNumber', part.number],
          ['LastModified', part.modifiedAt],
          ['ETag', `"${part.etag}"`],
          ['Size', part.size],
          ...checksumElements(part.checksum).filter(([name]) => name !== 'ChecksumType'),
        ],
      ]),
      ['Initiator', ownerElements(bucket.owner)],
      ['Owner', ownerElements(bucket.owner)],
      ['StorageClass', 'STANDARD'],
      ['ChecksumAlgorithm', upload.checksum?.algorithm ?? null],
      ['ChecksumType', upload.checksum?.type ?? null],
    ]),
  };
}

export async function listUploads({ backend, bucket, by, request: { query } }: BucketCall): Promise<Answer> {
  const prefix = query.get('prefix') ?? '';
  requirePrefix(by, prefix);
  const delimiter = query.get('delimiter') ?? '';
  const encodingType = encodingTypeOf(query);
  const shown = shownAs(encodingType);
  const limit = limitOf(query, 'max-uploads');
  const keyMarker = query.get('key-marker') ?? '';
  const uploadIdMarker = query.get('upload-id-marker') || null;
  const after = keyMarker === '' ? null : { key: keyMarker, uploadId: uploadIdMarker };
  const { entries, isTruncated } = await backend.listUploads(bucket, { prefix, delimiter, after, limit });
  const last = entries.at(-1);
  return {
    status: 200,
    body: xmlDocument('ListMultipartUploadsResult', [
      ['Bucket', bucket.name],
      ['KeyMarker', shown(keyMarker)],
      ['UploadIdMarker', uploadIdMarker ?? ''],
      ['NextKeyMarker', last ? shown(last.kind === 'prefix' ? last.prefix : last.upload.key) : null],
      // None behind a common prefix: the marker is the prefix alone.
      ['NextUploadIdMarker', last?.kind === 'upload' ? last.upload.id : null],
      ['Prefix', shown(prefix)],
      ['Delimiter', delimiter === '' ? null : shown(delimiter)],
      ['EncodingType', encodingType],
      ['MaxUploads', limit],
      ['IsTruncated', isTruncated],
      ...entries.flatMap((entry): Elements => (entry.kind === 'upload' ? [uploadElement(entry.upload)] : [])),
      ...entries.flatMap(
        (entry): Elements => (entry.kind === 'prefix' ? [['CommonPrefixes', [['Prefix', shown(entry.prefix)]]]] : []),
      ),
    ]),
  };

  function uploadElement(upload: S3Upload): Elements[number] {
    return [
      'Upload',
      [
        ['Key', shown(upload.key)],
        ['UploadId', upload.id],
        ['Initiator', ownerElements(bucket.owner)],
        ['Owner', ownerElements(bucket.owner)],
        ['StorageClass', 'STANDARD'],
        ['Initiated', upload.startedAt],
        ['ChecksumAlgorithm', upload.checksum?.algorithm ?? null],
        ['ChecksumType', upload.checksum?.type ?? null],
      ],
    ];
  }
}

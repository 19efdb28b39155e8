import type { Access } from './authorize.ts';
import type { Answer, BucketCall, ObjectCall, S3Call } from './call.ts';
import { S3Error } from './errors.ts';
import { deleteCors, getCors, putCors } from './operations/bucketCors.ts';
import * as buckets from './operations/buckets.ts';
import { completeUpload } from './operations/completeUpload.ts';
import { copyObject } from './operations/copyObject.ts';
import { deleteObject, deleteObjects } from './operations/deleteObjects.ts';
import { getObject, headObject } from './operations/getObject.ts';
import { listParts, listUploads } from './operations/listMultiparts.ts';
import { listObjectsV1, listObjectsV2, listVersions } from './operations/listObjects.ts';
import { abortUpload, copyPart, createUpload, uploadPart } from './operations/multipart.ts';
import { getAttributes, getBucketAcl, getObjectAcl, putAcl } from './operations/objectDetails.ts';
import { putObject } from './operations/putObject.ts';
import { deleteTags, getTags, putTags } from './operations/tagging.ts';
import type { S3Request } from './request.ts';

/** What a request asks for, by the level that it names. */
export type Operation = { name: string } & (
  | { level: 'service'; run: (call: S3Call) => Promise<Answer> }
  | { level: 'bucket'; access: Access; run: (call: BucketCall) => Promise<Answer> }
  | { level: 'object'; access: Access; run: (call: ObjectCall) => Promise<Answer> }
);

type OfBucket = (call: BucketCall) => Promise<Answer>;
type OfObject = (call: ObjectCall) => Promise<Answer>;

/** Parameters without a value of their own, which choose another operation. */
const SUB_RESOURCES = [
  'abac',
  'accelerate',
  'acl',
  'analytics',
  'annotation',
  'attributes',
  'cors',
  'delete',
  'encryption',
  'intelligent-tiering',
  'inventory',
  'legal-hold',
  'lifecycle',
  'list-type',
  'location',
  'logging',
  'metadataConfiguration',
  'metadataTable',
  'metrics',
  'notification',
  'object-lock',
  'ownershipControls',
  'policy',
  'policyStatus',
  'publicAccessBlock',
  'renameObject',
  'replication',
  'requestPayment',
  'restore',
  'retention',
  'select',
  'session',
  'tagging',
  'torrent',
  'uploadId',
  'uploads',
  'versioning',
  'versions',
  'website',
] as const;

const READS_OF_BUCKET: Record<string, OfBucket> = {
  HEAD: buckets.headBucket,
  GET: listObjectsV1,
  'GET list-type': listObjectsV2,
  'GET versions': listVersions,
  'GET uploads': listUploads,
  'GET location': buckets.getLocation,
  'GET versioning': buckets.getVersioning,
  'GET acl': getBucketAcl,
  'GET cors': getCors,
  'GET requestPayment': buckets.emptySetting('RequestPaymentConfiguration', [['Payer', 'BucketOwner']]),
  'GET logging': buckets.emptySetting('BucketLoggingStatus'),
  'GET notification': buckets.emptySetting('NotificationConfiguration'),
  'GET policy': buckets.missingSetting('NoSuchBucketPolicy'),
  'GET policyStatus': buckets.missingSetting('NoSuchBucketPolicy'),
  'GET lifecycle': buckets.missingSetting('NoSuchLifecycleConfiguration'),
  'GET tagging': buckets.missingSetting('NoSuchTagSet'),
  'GET encryption': buckets.missingSetting('ServerSideEncryptionConfigurationNotFoundError'),
  'GET object-lock': buckets.missingSetting('ObjectLockConfigurationNotFoundError'),
  'GET website': buckets.missingSetting('NoSuchWebsiteConfiguration'),
};

const WRITES_OF_BUCKET: Record<string, OfBucket> = {
  DELETE: buckets.deleteBucket,
  'POST delete': deleteObjects,
  'PUT acl': putAcl,
  'PUT cors': putCors,
  'DELETE cors': deleteCors,
};

const READS_OF_OBJECT: Record<string, OfObject> = {
  GET: getObject,
  HEAD: headObject,
  'GET acl': getObjectAcl,
  'GET attributes': getAttributes,
  'GET tagging': getTags,
  'GET uploadId': listParts,
};

const WRITES_OF_OBJECT: Record<string, OfObject> = {
  PUT: putObject,
  'PUT copy': copyObject,
  DELETE: deleteObject,
  'PUT acl': putAcl,
  'PUT tagging': putTags,
  'DELETE tagging': deleteTags,
  'POST uploads': createUpload,
  'PUT uploadId': uploadPart,
  'PUT uploadId copy': copyPart,
  'POST uploadId': completeUpload,
  'DELETE uploadId': abortUpload,
};

/** Throws NotImplemented or MethodNotAllowed for what this service does not have. */
export function operationOf(request: S3Request): Operation {
  const { bucket, key, method } = request;
  const plain = nameOf(request);
  if (bucket === null) {
    if (plain === 'GET') return { name: 'GET service', level: 'service', run: buckets.listBuckets };
  } else if (key === null) {
    const name = `${plain} (bucket)`;
    // The bucket is not there yet.
    if (plain === 'PUT') return { name, level: 'service', run: buckets.createBucket };
    const [read, write] = [READS_OF_BUCKET[plain], WRITES_OF_BUCKET[plain]];
    if (read) return { name, level: 'bucket', access: 'read', run: read };
    if (write) return { name, level: 'bucket', access: 'write', run: write };
  } else {
    const [read, write] = [READS_OF_OBJECT[plain], WRITES_OF_OBJECT[plain]];
    if (read) return { name: plain, level: 'object', access: 'read', run: read };
    if (write) return { name: plain, level: 'object', access: 'write', run: write };
  }
  throw new S3Error(plain === method ? 'MethodNotAllowed' : 'NotImplemented');
}

function nameOf({ method, query, headers, key }: S3Request): string {
  const subResource = SUB_RESOURCES.find((one) => query.has(one));
  const isCopy = method === 'PUT' && key !== null && headers.has('x-amz-copy-source');
  return [method, subResource, isCopy ? 'copy' : undefined].filter((part) => part !== undefined).join(' ');
}

import type { Storage } from './storages.ts';

export interface SnippetKey {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Stands where a key belongs that only its maker has. */
const NO_KEY: SnippetKey = { accessKeyId: 'YOUR_KEY_ID', secretAccessKey: 'YOUR_SECRET' };

type Place = Pick<Storage, 'bucket' | 'region'> & { endpoint: string };

/** The object that the snippets make a link to. */
export const LINKED_OBJECT = 'file.txt';

/**
 * Ready to be pasted: each tool's way to the bucket, and to a link for an hour where it can make one. The page of a
 * storage and the docs show these texts. Path style works with any name of the service. Signature version 4 is set
 * wherever a tool could fall back to version 2, which the AWS clients still use for links in us-east-1.
 */
export function storageSnippets({ bucket, region, endpoint }: Place, key: SnippetKey = NO_KEY) {
  const { accessKeyId, secretAccessKey } = key;
  const { host, protocol } = new URL(endpoint);
  const isTls = protocol === 'https:';
  return [
    {
      key: 'aws',
      tool: 'AWS CLI',
      code: `export AWS_ACCESS_KEY_ID=${accessKeyId}
export AWS_SECRET_ACCESS_KEY=${secretAccessKey}
export AWS_DEFAULT_REGION=${region}
aws configure set s3.signature_version s3v4
aws configure set s3.addressing_style path
aws --endpoint-url ${endpoint} s3 ls s3://${bucket}
# A link for an hour
aws --endpoint-url ${endpoint} s3 presign --expires-in 3600 s3://${bucket}/${LINKED_OBJECT}`,
    },
    {
      key: 'rclone',
      tool: 'rclone',
      code: `rclone config create ${bucket} s3 provider=Other endpoint=${endpoint} region=${region} \\
  access_key_id=${accessKeyId} secret_access_key=${secretAccessKey} \\
  force_path_style=true v2_auth=false no_check_bucket=true
rclone ls ${bucket}:${bucket}
# A link for an hour
rclone link --expire 1h ${bucket}:${bucket}/${LINKED_OBJECT}`,
    },
    {
      key: 'boto3',
      tool: 'boto3',
      code: `import boto3
from botocore.config import Config

s3 = boto3.client(
    "s3",
    endpoint_url="${endpoint}",
    region_name="${region}",
    aws_access_key_id="${accessKeyId}",
    aws_secret_access_key="${secretAccessKey}",
    config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
)
for item in s3.list_objects_v2(Bucket="${bucket}").get("Contents", []):
    print(item["Key"], item["Size"])
# A link for an hour
print(s3.generate_presigned_url("get_object", {"Bucket": "${bucket}", "Key": "${LINKED_OBJECT}"}, ExpiresIn=3600))`,
    },
    {
      key: 's3cmd',
      tool: 's3cmd',
      // Its signurl knows version 2 alone.
      code: `s3cmd --access_key=${accessKeyId} --secret_key=${secretAccessKey} --region=${region} \\
  --host=${host} --host-bucket=${host} ${isTls ? '--ssl' : '--no-ssl'} ls s3://${bucket}
# Make links with another tool: s3cmd signurl cannot sign with version 4`,
    },
    {
      key: 'restic',
      tool: 'restic',
      code: `export AWS_ACCESS_KEY_ID=${accessKeyId}
export AWS_SECRET_ACCESS_KEY=${secretAccessKey}
export AWS_DEFAULT_REGION=${region}
export RESTIC_REPOSITORY=s3:${endpoint}/${bucket}/restic
export RESTIC_PASSWORD=YOUR_PASSWORD
restic init
restic backup ./data
restic snapshots`,
    },
    {
      key: 's3fs',
      tool: 's3fs',
      code: `echo ${accessKeyId}:${secretAccessKey} > "$HOME/.passwd-${bucket}"
chmod 600 "$HOME/.passwd-${bucket}"
mkdir -p "$HOME/${bucket}"
s3fs ${bucket} "$HOME/${bucket}" -o passwd_file="$HOME/.passwd-${bucket}" \\
  -o url=${endpoint} -o endpoint=${region} -o use_path_request_style -o sigv4
ls "$HOME/${bucket}"`,
    },
    {
      key: 'js',
      tool: 'JavaScript',
      code: `import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

const s3 = new S3Client({
  endpoint: '${endpoint}',
  region: '${region}',
  forcePathStyle: true,
  credentials: { accessKeyId: '${accessKeyId}', secretAccessKey: '${secretAccessKey}' },
});
const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: '${bucket}' }));
for (const { Key, Size } of Contents) console.log(Key, Size);
// A link for an hour
const object = new GetObjectCommand({ Bucket: '${bucket}', Key: '${LINKED_OBJECT}' });
console.log(await getSignedUrl(s3, object, { expiresIn: 3600 }));`,
    },
  ];
}

import type { Storage } from '@stagi/contract/storages.ts';

export interface SnippetKey {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Stands where a key belongs that only its maker has. */
const NO_KEY: SnippetKey = { accessKeyId: 'YOUR_KEY_ID', secretAccessKey: 'YOUR_SECRET' };

type Place = Pick<Storage, 'bucket' | 'region'> & { endpoint: string };

/** Ready to be pasted: what each tool needs to reach the bucket. Path style works with any name of the service. */
export function snippets({ bucket, region, endpoint }: Place, key: SnippetKey = NO_KEY) {
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
aws --endpoint-url ${endpoint} s3 ls s3://${bucket}`,
    },
    {
      key: 'rclone',
      tool: 'rclone',
      code: `rclone config create ${bucket} s3 provider=Other endpoint=${endpoint} region=${region} \\
  access_key_id=${accessKeyId} secret_access_key=${secretAccessKey} force_path_style=true no_check_bucket=true
rclone ls ${bucket}:${bucket}`,
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
    config=Config(s3={"addressing_style": "path"}),
)
for item in s3.list_objects_v2(Bucket="${bucket}").get("Contents", []):
    print(item["Key"], item["Size"])`,
    },
    {
      key: 's3cmd',
      tool: 's3cmd',
      code: `s3cmd --access_key=${accessKeyId} --secret_key=${secretAccessKey} --region=${region} \\
  --host=${host} --host-bucket=${host} ${isTls ? '--ssl' : '--no-ssl'} ls s3://${bucket}`,
    },
    {
      key: 'js',
      tool: 'JavaScript',
      code: `import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';

const s3 = new S3Client({
  endpoint: '${endpoint}',
  region: '${region}',
  forcePathStyle: true,
  credentials: { accessKeyId: '${accessKeyId}', secretAccessKey: '${secretAccessKey}' },
});
const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: '${bucket}' }));
for (const { Key, Size } of Contents) console.log(Key, Size);`,
    },
  ];
}

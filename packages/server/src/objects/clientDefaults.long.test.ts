import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { LINKED_OBJECT, storageSnippets } from '@stagi/contract/storageSnippets.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { CreatedS3Key } from './keys.ts';
import { aBucket, aKey, s3Client, s3Url, type TestBucket } from './testing/bucket.ts';

const TIMEOUT_MS = 120_000;
const V4 = 'Please use AWS4-HMAC-SHA256 as the authorization mechanism';
const FORM = 'Uploads by a form are not supported';
const CONTENT = 'found by a link';

let app: TestApp;
let folder: string;
let bucket: TestBucket;
let key: CreatedS3Key;
beforeAll(async () => {
  app = await startTestApp();
  const alice = await app.signUp('Alice');
  bucket = await aBucket(app, alice);
  key = await aKey(app, alice, bucket);
  folder = mkdtempSync(join(tmpdir(), 'stagi-defaults-'));
  // The script of the JavaScript client finds its packages here.
  symlinkSync(join(import.meta.dirname, '../../../../node_modules'), join(folder, 'node_modules'));
  const Bucket = bucket.name;
  await s3Client(s3Url(app), key).send(new PutObjectCommand({ Bucket, Key: LINKED_OBJECT, Body: CONTENT }));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await app?.close();
});

/** The program that runs the text of each tool, and what it needs; `npm test` installs it where it may (`scripts/packages.ts`). */
const PROGRAMS: Record<string, { needs: string; run: string[]; file: string }> = {
  aws: { needs: '/usr/bin/aws', run: ['bash', '-e'], file: 'aws.sh' },
  rclone: { needs: '/usr/bin/rclone', run: ['bash', '-e'], file: 'rclone.sh' },
  boto3: { needs: '/usr/lib/python3/dist-packages/boto3', run: ['/usr/bin/python3'], file: 'client.py' },
  s3cmd: { needs: '/usr/bin/s3cmd', run: ['bash', '-e'], file: 's3cmd.sh' },
  restic: { needs: '/usr/bin/restic', run: ['bash', '-e'], file: 'restic.sh' },
  s3fs: { needs: '/usr/bin/s3fs', run: ['bash', '-e'], file: 's3fs.sh' },
  js: { needs: process.execPath, run: [process.execPath], file: 'client.mjs' },
};

/** The reason not to run a tool here; null where it can run. */
function whyNot(tool: string): string | null {
  const { needs } = PROGRAMS[tool]!;
  if (!existsSync(needs)) return `${needs} is not installed here`;
  if (tool === 's3fs' && !existsSync('/dev/fuse')) return 'nothing can be mounted here: there is no /dev/fuse';
  return null;
}

/** Runs a program at its defaults: with a home folder of its own. Answers all that it printed. */
function run([program, ...args]: string[], home: string, env: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve) => {
    const options = {
      cwd: home,
      env: { PATH: '/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8', AWS_EC2_METADATA_DISABLED: 'true', ...env },
      timeout: 60_000,
    };
    execFile(program!, args, options, (error, stdout, stderr) =>
      resolve(`${stdout}${stderr}${error ? `failed: ${error.message}` : ''}`),
    );
  });
}

function homeOf(name: string): string {
  const home = join(folder, name);
  mkdirSync(join(home, 'data'), { recursive: true });
  writeFileSync(join(home, 'data/a.txt'), 'a');
  return home;
}

const linkIn = (text: string): string => /https?:\/\/\S+\?\S+/.exec(text)?.[0] ?? `no link in: ${text}`;
const read = async (link: string): Promise<string> => (await fetch(link)).text();

describe('the shown snippets, run as they are', { timeout: TIMEOUT_MS }, () => {
  const place = { bucket: 'a-bucket', region: 'us-east-1', endpoint: 'http://localhost:1' };
  const shown = storageSnippets(place);
  it('are run all', () => expect(shown.map((snippet) => snippet.key).sort()).toEqual(Object.keys(PROGRAMS).sort()));

  for (const { key: tool, code: shownCode } of shown) {
    const reason = whyNot(tool);
    if (reason) console.log(`skipped: the snippet of ${tool}: ${reason}`);
    it.skipIf(reason !== null)(
      `${tool} reaches the bucket${shownCode.includes('A link') ? ', and its link works' : ''}`,
      async () => {
        // By the host's name, as the page shows it: clients that put the bucket before it would not get through.
        const endpoint = s3Url(app).replace('127.0.0.1', 'localhost');
        const { code } = storageSnippets({ ...place, bucket: bucket.name, endpoint }, key).find(
          (each) => each.key === tool,
        )!;
        const home = homeOf(`snippet-${tool}`);
        // Packages are looked for in the folders above the script.
        const script = join(home, PROGRAMS[tool]!.file);
        writeFileSync(script, code);
        const said = await run([...PROGRAMS[tool]!.run, script], home);
        if (tool === 's3fs') await run(['fusermount', '-u', join(home, bucket.name)], home);
        expect(said).not.toContain('failed:');
        expect(said).toContain(tool === 'restic' ? '1 snapshots' : LINKED_OBJECT);
        if (code.includes('A link')) expect(await read(linkIn(said))).toBe(CONTENT);
      },
    );
  }
});

describe('clients at their defaults', { timeout: TIMEOUT_MS }, () => {
  const python = (code: string) => `import boto3, os, urllib.request
from botocore.config import Config
def client(**more):
    return boto3.client("s3", endpoint_url=os.environ["ENDPOINT"], **more)
B, K = os.environ["BUCKET"], "${LINKED_OBJECT}"
${code}`;
  const link = (method: string, more = '') =>
    python(`print(client(${more}).generate_presigned_url("${method}", {"Bucket": B, "Key": K}, ExpiresIn=60))`);
  const v4 = 'config=Config(signature_version="s3v4")';

  /** Program, its text, and what its link answers, or what it prints itself. */
  const table: [told: string, needs: string, code: string, expected: string][] = [
    ['boto3: a link to read', 'boto3', link('get_object'), V4],
    ['boto3: a link to read in another region', 'boto3', link('get_object', 'region_name="eu-central-1"'), CONTENT],
    ['boto3: a link to read, s3v4', 'boto3', link('get_object', v4), CONTENT],
    [
      'boto3: a link by AWS_CONFIG_FILE',
      'boto3',
      `import os\nos.environ["AWS_CONFIG_FILE"] = os.environ["PINNED"]\n${link('get_object')}`,
      CONTENT,
    ],
    [
      'boto3: listing',
      'boto3',
      python('print([item["Key"] for item in client().list_objects_v2(Bucket=B)["Contents"]])'),
      LINKED_OBJECT,
    ],
    [
      'boto3: a signature of version 2',
      'boto3',
      python(`
try:
    client(config=Config(signature_version="s3")).list_objects_v2(Bucket=B)
except Exception as error:
    print(error)`),
      V4,
    ],
    [
      'boto3: a form',
      'boto3',
      python(`
form = client().generate_presigned_post(B, "by-form.txt")
import subprocess
fields = [part for name, value in form["fields"].items() for part in ("-F", name + "=" + value)]
print(subprocess.run(["curl", "-sS", *fields, "-F", "file=@data/a.txt", form["url"]], capture_output=True, text=True).stdout)`),
      FORM,
    ],
    ['AWS CLI: a link', 'aws', `aws --endpoint-url $ENDPOINT s3 presign s3://$BUCKET/${LINKED_OBJECT}`, CONTENT],
    ['AWS CLI: a listing', 'aws', 'aws --endpoint-url $ENDPOINT s3 ls s3://$BUCKET', LINKED_OBJECT],
    ['s3cmd: a link', 's3cmd', `s3cmd $S3CMD signurl s3://$BUCKET/${LINKED_OBJECT} +60`, V4],
    ['s3cmd: a listing', 's3cmd', 's3cmd $S3CMD ls s3://$BUCKET', LINKED_OBJECT],
    ['s3cmd: version 2', 's3cmd', 's3cmd $S3CMD --signature-v2 ls s3://$BUCKET 2>&1 || true', V4],
    ['rclone: a link', 'rclone', `rclone $RCLONE link :s3:$BUCKET/${LINKED_OBJECT}`, CONTENT],
    [
      'rclone: version 2',
      'rclone',
      'rclone $RCLONE --s3-v2-auth --retries 1 --low-level-retries 1 lsd :s3:$BUCKET 2>&1 || true',
      'InvalidRequest',
    ],
    ['curl: a form without fields', 'aws', 'curl -sS -F file=@data/a.txt $ENDPOINT/$BUCKET', FORM],
    ['curl: an upload without a signature', 'aws', 'curl -sS -T data/a.txt $ENDPOINT/$BUCKET/x', 'Access Denied'],
  ];

  it('read by version 4, or are told to', async () => {
    const endpoint = s3Url(app);
    const pinned = join(folder, 'pinned');
    writeFileSync(pinned, '[default]\ns3 =\n  signature_version = s3v4\n');
    const env = {
      AWS_ACCESS_KEY_ID: key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
      AWS_DEFAULT_REGION: 'us-east-1',
      ENDPOINT: endpoint,
      BUCKET: bucket.name,
      PINNED: pinned,
      S3CMD: `--access_key=${key.accessKeyId} --secret_key=${key.secretAccessKey} --no-ssl --host=${new URL(endpoint).host} --host-bucket=${new URL(endpoint).host}`,
      RCLONE: `--s3-provider Other --s3-env-auth --s3-endpoint ${endpoint}`,
    };
    const ran = table.filter(([, tool]) => whyNot(tool) === null);
    for (const [index, [told, tool, code, expected]] of ran.entries()) {
      const home = homeOf(`default-${index}`);
      const script = join(home, PROGRAMS[tool]!.file);
      writeFileSync(script, code);
      const said = await run([...PROGRAMS[tool]!.run, script], home, env);
      const isLink = told.includes('a link');
      expect({ told, said: isLink ? await read(linkIn(said)) : said }).toEqual({
        told,
        said: expect.stringContaining(expected),
      });
    }
    console.log(`S3 clients at their defaults: n = ${ran.length} of ${table.length}`);
  });
});

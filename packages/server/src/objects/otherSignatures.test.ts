import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import { aBucket, aKey, s3Url } from './testing/bucket.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

const V4 = 'Please use AWS4-HMAC-SHA256 as the authorization mechanism';
const FORM = 'Uploads by a form are not supported: presign a PUT with AWS4-HMAC-SHA256';

interface Sent {
  method?: string;
  query?: string;
  headers?: Record<string, string>;
}

const form = { 'content-type': 'multipart/form-data; boundary=x' };

/** Requests as clients send them that do not sign with version 4. */
const cases = (id: string): [told: string, sent: Sent, status: number, code: string, message: string][] => {
  const v2 = `AWSAccessKeyId=${id}&Signature=c2lnbmF0dXJl%3D&Expires=1999999999`;
  return [
    ['a link of boto3 in us-east-1', { query: v2 }, 400, 'InvalidRequest', V4],
    ['a link of a key that is none', { query: v2.replace(id, 'AKIDNONE') }, 400, 'InvalidRequest', V4],
    ['a link to put', { method: 'PUT', query: v2 }, 400, 'InvalidRequest', V4],
    ['a link to delete', { method: 'DELETE', query: v2 }, 400, 'InvalidRequest', V4],
    ['parameters in another order', { query: v2.split('&').reverse().join('&') }, 400, 'InvalidRequest', V4],
    ['a link with a name to save as', { query: `response-content-disposition=a&${v2}` }, 400, 'InvalidRequest', V4],
    ['a link of temporary keys', { query: `${v2}&x-amz-security-token=t` }, 400, 'InvalidRequest', V4],
    ['a link cut before its signature', { query: `AWSAccessKeyId=${id}` }, 400, 'InvalidRequest', V4],
    ['a link that has expired', { query: v2.replace('1999999999', '1') }, 400, 'InvalidRequest', V4],
    ['a header of version 2', { headers: { authorization: `AWS ${id}:c2ln` } }, 400, 'InvalidRequest', V4],
    ['a password', { headers: { authorization: 'Basic YTpi' } }, 400, 'InvalidRequest', V4],
    ['a token', { headers: { authorization: 'Bearer stg_1_a' } }, 400, 'InvalidRequest', V4],
    ['a form', { method: 'POST', headers: form }, 501, 'NotImplemented', FORM],
    [
      'a form in capitals',
      { method: 'POST', headers: { 'content-type': 'Multipart/Form-Data' } },
      501,
      'NotImplemented',
      FORM,
    ],
    ['no signature', {}, 403, 'AccessDenied', 'Access Denied'],
    [
      'a post that is no form',
      { method: 'POST', headers: { 'content-type': 'text/xml' } },
      403,
      'AccessDenied',
      'Access Denied',
    ],
    ['other parameters', { query: 'signature=x&awsaccesskeyid=y' }, 403, 'AccessDenied', 'Access Denied'],
  ];
};

it('tells clients that sign otherwise what to use', async () => {
  const alice = await app.signUp('Alice');
  const bucket = await aBucket(app, alice);
  const key = await aKey(app, alice, bucket);
  const table = cases(key.accessKeyId);
  for (const [told, sent, status, code, message] of table)
    expect({ told, ...(await answerTo(`/${bucket.name}/a`, sent)) }).toEqual({ told, status, code, message });
  console.log(`S3 requests without version 4: n = ${table.length}`);
});

function answerTo(path: string, { method = 'GET', query = '', headers = {} }: Sent) {
  return new Promise<{ status: number; code?: string; message?: string }>((resolve, reject) => {
    const sent = request(`${s3Url(app)}${path}?${query}`, { method, headers }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (text: string) => {
        body += text;
      });
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          code: /<Code>(.*?)<\/Code>/.exec(body)?.[1],
          message: /<Message>(.*?)<\/Message>/.exec(body)?.[1],
        }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

import { requireWholeBucket } from '../authorize.ts';
import type { CorsRule } from '../backend.ts';
import { openBody, readSmall } from '../body.ts';
import type { Answer, BucketCall } from '../call.ts';
import { S3Error } from '../errors.ts';
import { childrenOf, type Elements, type Parsed, parseXml, textIn, textsIn, xmlDocument } from '../xml.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_RULES = 100;
const METHODS = new Set(['GET', 'PUT', 'POST', 'DELETE', 'HEAD']);

export async function getCors({ bucket, by }: BucketCall): Promise<Answer> {
  requireWholeBucket(by);
  if (bucket.cors.length === 0) throw new S3Error('NoSuchCORSConfiguration', undefined, { BucketName: bucket.name });
  return { status: 200, body: xmlDocument('CORSConfiguration', bucket.cors.map(ruleElement)) };
}

export async function putCors({ backend, bucket, by, request, payload, source }: BucketCall): Promise<Answer> {
  requireWholeBucket(by);
  const body = openBody({ headers: request.headers, payload, source });
  const document = await parseXml(await readSmall(body, MAX_BODY_BYTES), 'CORSConfiguration');
  const rules = childrenOf(document, 'CORSRule').map(readRule);
  if (rules.length === 0 || rules.length > MAX_RULES) throw new S3Error('MalformedXML');
  await backend.setCors(bucket, rules);
  return { status: 200 };
}

export async function deleteCors({ backend, bucket, by }: BucketCall): Promise<Answer> {
  requireWholeBucket(by);
  await backend.setCors(bucket, null);
  return { status: 204 };
}

function readRule(rule: Parsed): CorsRule {
  const allowedOrigins = textsIn(rule, 'AllowedOrigin');
  const allowedMethods = textsIn(rule, 'AllowedMethod');
  const allowedHeaders = textsIn(rule, 'AllowedHeader');
  if (allowedOrigins.length === 0 || allowedMethods.length === 0) throw new S3Error('MalformedXML');
  for (const method of allowedMethods)
    if (!METHODS.has(method))
      throw new S3Error(
        'InvalidRequest',
        `Found unsupported HTTP method in CORS config. Unsupported method is ${method}`,
      );
  for (const pattern of [...allowedOrigins, ...allowedHeaders])
    if (pattern.split('*').length > 2)
      throw new S3Error('InvalidRequest', `"${pattern}" can not have more than one wildcard.`);
  const id = textIn(rule, 'ID');
  const maxAge = textIn(rule, 'MaxAgeSeconds')?.trim();
  if (maxAge !== undefined && !/^\d{1,9}$/.test(maxAge)) throw new S3Error('MalformedXML');
  return {
    ...(id !== null && { id }),
    allowedOrigins,
    allowedMethods,
    allowedHeaders,
    exposeHeaders: textsIn(rule, 'ExposeHeader'),
    ...(maxAge !== undefined && { maxAgeSeconds: Number(maxAge) }),
  };
}

const ruleElement = (rule: CorsRule): Elements[number] => [
  'CORSRule',
  [
    ['ID', rule.id ?? null],
    ...rule.allowedHeaders.map((header) => ['AllowedHeader', header] as const),
    ...rule.allowedMethods.map((method) => ['AllowedMethod', method] as const),
    ...rule.allowedOrigins.map((origin) => ['AllowedOrigin', origin] as const),
    ...rule.exposeHeaders.map((header) => ['ExposeHeader', header] as const),
    ['MaxAgeSeconds', rule.maxAgeSeconds ?? null],
  ],
];

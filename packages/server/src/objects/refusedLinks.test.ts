import { afterAll, beforeAll, expect, it } from 'vitest';
import { aTarget, expectAllRefused, presigned, type Refusal, type Target, visit } from './testing/refusals.ts';

let target: Target;
beforeAll(async () => {
  target = await aTarget();
});
afterAll(() => target?.app.close());

const refusals = (): Refusal[] => {
  const at = (path: string): string => `/${target.own.name}/${path}`;
  return [
    ['URL expired', () => visit(target, presigned(target, { now: new Date(Date.now() - 61_000) })), 'AccessDenied'],
    [
      'URL of tomorrow',
      () => visit(target, presigned(target, { now: new Date(Date.now() + 86_400_000) })),
      'AccessDenied',
    ],
    [
      'URL of more than 7 days',
      () => visit(target, presigned(target, { expiresInSeconds: 604_801 })),
      'AuthorizationQueryParametersError',
    ],
    [
      'URL made to last longer',
      () => visit(target, presigned(target).replace('X-Amz-Expires=60', 'X-Amz-Expires=600')),
      'SignatureDoesNotMatch',
    ],
    ['URL of another key', () => visit(target, presigned(target).replace('/a/1?', '/b/1?')), 'SignatureDoesNotMatch'],
    ['URL of another method', () => visit(target, presigned(target), 'DELETE'), 'SignatureDoesNotMatch'],
    ['URL with a parameter more', () => visit(target, `${presigned(target)}&acl=`), 'SignatureDoesNotMatch'],
    [
      'URL with a parameter doubled',
      () => visit(target, `${presigned(target)}&X-Amz-Expires=600`),
      'AuthorizationQueryParametersError',
    ],
    [
      'URL without its signature',
      () => visit(target, presigned(target).replace(/&X-Amz-Signature=.*/, '')),
      'AuthorizationQueryParametersError',
    ],
    [
      'URL and header at once',
      () => visit(target, presigned(target), 'GET', [['authorization', 'AWS4-HMAC-SHA256 x']]),
      'InvalidArgument',
    ],
    [
      'URL with an unsigned x-amz header',
      () => visit(target, presigned(target, { method: 'PUT' }), 'PUT', [['x-amz-copy-source', at('b/1')]]),
      'AccessDenied',
    ],
  ];
};

it('refuses presigned URLs that are over, changed or incomplete', async () => {
  const corpus = refusals();
  expect(corpus.length).toBeGreaterThanOrEqual(11);
  await expectAllRefused(target, 'presigned URLs', corpus);
});

it('accepts a URL with which nothing is wrong', async () => {
  expect(await visit(target, presigned(target))).toMatchObject({ status: 200, body: 'kept' });
});

import { Slug } from '@stagi/contract/fields.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { slugFromTitle } from './slug.ts';

it('makes a Unique ID of a title', () => {
  expect(slugFromTitle('My GPU server (2)')).toBe('my-gpu-server-2');
  expect(slugFromTitle('  Überflug – Café  ')).toBe('uberflug-cafe');
  expect(slugFromTitle('Обучение Щука')).toBe('obuchenie-shchuka');
  expect(slugFromTitle('Işık')).toBe('isik');
  expect(slugFromTitle('服务器')).toBe('');
});

it('suggests nothing that the contract refuses, but for its length', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (title) => {
      const slug = slugFromTitle(title);
      expect(slug.length < 3 || Slug.safeParse(slug).success).toBe(true);
    }),
  );
});

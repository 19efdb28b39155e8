import { describe, expect, it } from 'vitest';
import { everyCall } from './api.ts';
import { openapi } from './openapi.ts';

const MAX_BYTES = 600_000;

const document = openapi() as {
  paths: Record<string, { post: { operationId: string } }>;
  components: Record<string, Record<string, unknown>>;
};
const text = JSON.stringify(document);

describe('the API description', () => {
  it('has each call once', () => {
    const ids = Object.values(document.paths).map(({ post }) => post.operationId);
    expect(ids.toSorted()).toEqual(
      everyCall()
        .map(({ path }) => path.replaceAll('/', '.'))
        .sort(),
    );
  });

  it('refers only to what it holds, and holds only what it refers to', () => {
    const referred = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!));
    const held = ['parameters', 'responses', 'schemas'].flatMap((kind) =>
      Object.keys(document.components[kind]!).map((name) => `#/components/${kind}/${name}`),
    );
    console.log(`API description: n = ${held.length} components, ${text.length} bytes`);
    expect([...referred].sort()).toEqual(held.toSorted());
  });

  it('says what many calls share once', () => {
    expect(text.length).toBeLessThan(MAX_BYTES);
  });
});

import { describe, expect, it } from 'vitest';
import { DOMAINS } from '../calls.ts';
import { loadContent } from '../content.ts';
import { exampleInput } from './exampleInput.ts';
import { fieldRows } from './fieldRows.ts';
import type { JsonSchema } from './jsonSchema.ts';

const content = loadContent(new URL('../testing/pages', import.meta.url).pathname);
const CALLS = [...DOMAINS.values()].flat();

describe('the reference', () => {
  it('has every call of the contract, each with two examples', () => {
    let examples = 0;
    for (const { domain, name, call, address } of CALLS) {
      const [path = '', id = ''] = address.split('#');
      const text = content.written(path, 'en')?.source.body() ?? '';
      expect(text, address).toContain(`## ${domain}.${name} {#${id}}\n`);
      const own = text.slice(text.indexOf(`{#${id}}`)).split('\n## ')[0] ?? '';
      expect(own, address).toContain(`POST /frontend-api/${call.path}`);
      expect(own.match(/^```(sh norun: an example|ts)$/gm), address).toHaveLength(2);
      examples += 2;
    }
    console.log(`reference: n = ${CALLS.length} calls on ${DOMAINS.size} pages, ${examples} examples`);
    expect(CALLS.length).toBeGreaterThan(200);
  });

  it('has inputs that the calls accept', () => {
    for (const { domain, name, call } of CALLS) {
      const { error } = call.input.safeParse(exampleInput(domain, name, call));
      expect(error?.issues, `${domain}.${name}`).toBeUndefined();
    }
  });

  it('says who may make a call, and how', async () => {
    const create = (await content.markdown('/docs/api/containers', 'en'))
      ?.split('\n## ')
      .find((part) => part.startsWith('containers.create'));
    expect(create).toContain('members with `INSTANCE_RENTED_MANAGEMENT` or `SELFHOSTED_INSTANCE_MANAGEMENT`.');
    expect(create).toContain('**API tokens**: allowed.');
    expect(create).toContain('-H "Idempotency-Key: $(uuidgen)"');
    expect(create).toContain("'Idempotency-Key': randomUUID(),");
    expect(create).toContain('| `portMappings[].container` | integer | yes | 1 to 65535 |');
    expect(create).toContain('fields as in [containers.list: `entities`](#list-output)');
    const register = (await content.markdown('/docs/api/auth', 'en'))
      ?.split('\n## ')
      .find((part) => part.startsWith('auth.register'));
    expect(register).toContain('**Who may call it**: anyone.');
    expect(register).not.toContain('Authorization');
  });
});

describe('fields', () => {
  it('are those of objects within lists and of all variants', () => {
    const shape: JsonSchema = {
      type: 'object',
      properties: {
        kind: { anyOf: [{ const: 'a' }, { type: 'null' }] },
        rows: {
          type: 'array',
          maxItems: 3,
          items: { type: 'object', properties: { n: { type: 'integer', minimum: 1, maximum: 5 } } },
        },
        either: {
          anyOf: [
            { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
            { type: 'object', properties: { slug: { type: ['string', 'null'] } } },
          ],
        },
      },
      required: ['kind'],
    };
    expect(fieldRows(shape).map(({ field, type, isRequired, limits }) => [field, type, isRequired, ...limits])).toEqual(
      [
        ['kind', '"a" or null', true],
        ['rows', 'array of object', false, 'at most 3 entries'],
        ['rows[].n', 'integer', false, '1 to 5'],
        ['either', 'object', false],
        ['either.id', 'integer', false],
        ['either.slug', 'string or null', false],
      ],
    );
  });
});

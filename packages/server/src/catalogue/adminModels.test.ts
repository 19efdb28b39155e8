import { api } from '@stagi/contract/api.ts';
import type { InputOf } from '@stagi/contract/call.ts';
import { CallError, fieldErrors } from '@stagi/contract/errors.ts';
import { models } from '@stagi/perf/catalogueFiles.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CloudApp, startCloudApp } from '../testing/cloudApp.ts';
import { makeOperator } from '../testing/factories.ts';
import type { Person } from '../testing/person.ts';

type Create = InputOf<typeof api.adminModels.create>;
type Edit = InputOf<typeof api.adminModels.edit>;

let app: CloudApp;
let olga: Person;
let member: Person;
beforeAll(async () => {
  app = await startCloudApp();
  olga = await app.signUp('Olga');
  member = await app.signUp('Mia');
  await makeOperator(app.ctx, olga);
});
beforeEach(() => app.ctx.pg.query('delete from catalogue_change'));
afterAll(() => app?.close());

const LLAMA = 'meta-llama/Llama-3.1-8B-Instruct';
const PAGE = { url: 'https://example.com/report', note: 'the technical report' };
const FILE = { repo: 'meta-llama/llama-models', path: 'models/card.md', note: 'context length' };
const NEW: Create = {
  modelId: 'acme/Walrus-7B',
  fields: {
    name: 'Walrus 7B',
    publisher: 'Acme',
    task: 'code',
    licence: 'apache-2.0',
    parameters: { total: 7_615_616_512 },
    contextLength: 32_768,
    layers: 28,
    hiddenSize: 3584,
    heads: 28,
    kvHeads: 4,
    headDim: 128,
    intermediateSize: 18_944,
    vocabSize: 152_064,
    releasedAt: '2026-03',
    precisions: [
      { precision: 'bf16', repository: 'acme/Walrus-7B' },
      { precision: 'gguf', repository: 'acme/Walrus-7B-GGUF', variants: ['Q4_K_M', 'Q8_0'] },
    ],
  },
  source: [PAGE],
};

const create = (input: Partial<Create> = {}, by = olga) => by.client(api.adminModels.create, { ...NEW, ...input });
const edit = (input: Partial<Edit> & { modelId: string }, by = olga) =>
  by.client(api.adminModels.edit, { version: null, source: [PAGE], ...input });
const seen = async (id: string) => (await app.anonymous(api.models.view, { id })).entity;
const idsOf = async (input: InputOf<typeof api.models.list>) =>
  (await app.anonymous(api.models.list, input)).entities.map(({ id }) => id);

async function refusal(work: Promise<unknown>): Promise<{ status: number; fields: Record<string, string> }> {
  const error = await work.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof CallError)) throw error;
  return { status: error.status, fields: fieldErrors(error) };
}

describe('a model that an operator adds', () => {
  it('is listed, found, filtered, and judged for GPUs like a shipped one', async () => {
    const { entity } = await create({ note: 'asked for by a customer' });
    expect(entity).toMatchObject({ state: 'added', name: 'walrus-7b', problem: null, createdBy: { name: 'Olga' } });
    expect((await app.anonymous(api.models.facets, {})).total).toBe(models.length + 1);
    expect(await idsOf({ entityFilterRequest: { queryString: 'walrus acme' } })).toEqual([NEW.modelId]);
    expect(await idsOf({ filters: { publishers: ['Acme'], tasks: ['code'], gpu: 'l4' } })).toEqual([NEW.modelId]);
    expect(await idsOf({ filters: { publishers: ['Acme'], minParameters: 8e9 } })).toEqual([]);
    const model = (await app.anonymous(api.models.view, { name: 'walrus-7b' })).entity;
    expect(model).toMatchObject({ qualities: ['M', 'XL', 'original'], change: { kind: 'added', source: [PAGE] } });
    expect(model.entry).toMatchObject({ ...NEW.fields, source: [PAGE] });
    expect(model.entry.links).toEqual(['acme/Walrus-7B', 'acme/Walrus-7B-GGUF']);
    const fit = await app.anonymous(api.models.fit, { modelRef: { id: NEW.modelId }, gpu: { id: 'l4' } });
    expect(fit.entity.onGpu!.prediction.memory).toMatchObject({ fits: true, reason: null });
    expect(fit.entity.onGpu!.prediction.memory.parts.weights).toBeCloseTo(2 * 7_615_616_512, -3);
  });

  it('is added once, with an address of its own', async () => {
    await create();
    const already = 'This model is in the catalogue already';
    expect(await refusal(create())).toEqual({ status: 400, fields: { modelId: already } });
    expect(await refusal(create({ modelId: LLAMA }))).toEqual({ status: 400, fields: { modelId: already } });
    const taken: [string, string][] = [
      ['other/walrus_7b', NEW.modelId],
      ['other/Llama-3.1-8B-Instruct', LLAMA],
    ];
    for (const [modelId, other] of taken)
      expect(await refusal(create({ modelId }))).toEqual({
        status: 400,
        fields: { modelId: `${other} has the same address in the catalogue` },
      });
    await olga.client(api.adminModels.hide, { modelId: LLAMA });
    expect(await refusal(create({ modelId: 'other/llama-3.1-8b-instruct' }))).toMatchObject({ status: 400 });
    const racers = await Promise.allSettled(
      ['one/Race', 'two/Race', 'three/race'].map((modelId) => create({ modelId })),
    );
    expect(racers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is changed and gone again', async () => {
    const { entity: made } = await create();
    const { entity } = await edit({
      modelId: NEW.modelId,
      version: made.version,
      fields: { contextLength: 65_536, licence: null },
      source: [FILE],
    });
    expect([entity.state, entity.entry?.contextLength, entity.entry?.licence]).toEqual(['added', 65_536, undefined]);
    expect((await seen(NEW.modelId)).entry).toMatchObject({ contextLength: 65_536, name: 'Walrus 7B', source: [FILE] });
    expect(await refusal(edit({ modelId: NEW.modelId, version: entity.version, reset: ['layers'] }))).toEqual({
      status: 400,
      fields: { reset: 'This model was not shipped: there is nothing to go back to' },
    });
    await olga.client(api.adminModels.delete, { modelId: NEW.modelId });
    await expect(seen(NEW.modelId)).rejects.toMatchObject({ status: 404 });
    await expect(olga.client(api.adminModels.view, { modelId: NEW.modelId })).rejects.toMatchObject({ status: 404 });
    await expect(olga.client(api.adminModels.delete, { modelId: LLAMA })).rejects.toMatchObject({ status: 404 });
  });
});

describe('a shipped model', () => {
  it('shows the changed numbers with their source, until they are reset', async () => {
    const shipped = (await seen(LLAMA)).entry;
    const first = await edit({
      modelId: LLAMA,
      fields: { contextLength: 65_536, name: 'Llama, renamed', heads: shipped.heads },
      source: [FILE],
    });
    expect(first.entity).toMatchObject({
      state: 'changed',
      changed: ['contextLength', 'name'],
      shipped: { contextLength: 131_072 },
      entry: { contextLength: 65_536 },
      source: [FILE],
    });
    const model = await seen(LLAMA);
    expect([model.title, model.contextLength, model.entry.layers]).toEqual(['Llama, renamed', 65_536, shipped.layers]);
    expect(model.change).toMatchObject({ kind: 'changed', fields: ['contextLength', 'name'], source: [FILE] });
    expect(model.entry.source).toEqual(shipped.source);
    const fit = await app.anonymous(api.models.fit, {
      modelRef: { id: LLAMA },
      gpu: { id: 'h200-sxm' },
      lengths: { input: 100_000, output: 100 },
    });
    expect(fit.entity.onGpu!.prediction.memory).toMatchObject({ fits: false, reason: 'context' });

    const second = await edit({ modelId: LLAMA, version: first.entity.version, reset: ['name'], source: [FILE] });
    expect(second.entity.changed).toEqual(['contextLength']);
    expect((await seen(LLAMA)).title).toBe(shipped.name);
    const third = await edit({ modelId: LLAMA, version: second.entity.version, fields: { contextLength: 131_072 } });
    expect(third.entity).toMatchObject({ state: 'shipped', version: null, source: null });
    expect(await seen(LLAMA)).toMatchObject({ entry: shipped, change: null });
  });

  it('is as it was shipped when the change is removed', async () => {
    const before = await seen(LLAMA);
    await edit({ modelId: LLAMA, fields: { parameters: { total: 8_030_261_248, active: null }, licence: null } });
    expect((await seen(LLAMA)).licence).toBeNull();
    await olga.client(api.adminModels.delete, { modelId: LLAMA });
    expect(await seen(LLAMA)).toEqual(before);
  });

  it('is not found while it is hidden, and keeps its changes', async () => {
    const { entity } = await edit({ modelId: LLAMA, fields: { contextLength: 65_536 } });
    const hidden = await olga.client(api.adminModels.hide, { modelId: LLAMA });
    expect(hidden.entity.state).toBe('hidden');
    await expect(seen(LLAMA)).rejects.toMatchObject({ status: 404 });
    await expect(app.anonymous(api.models.fit, { modelRef: { id: LLAMA } })).rejects.toMatchObject({ status: 404 });
    expect(await idsOf({ entityFilterRequest: { queryString: '8b llama 3.1' } })).toEqual([]);
    expect(hidden.entity.version).not.toBe(entity.version);
    const shown = await olga.client(api.adminModels.show, { modelId: LLAMA });
    expect([shown.entity.state, (await seen(LLAMA)).contextLength]).toEqual(['changed', 65_536]);
    await olga.client(api.adminModels.delete, { modelId: LLAMA });
    await olga.client(api.adminModels.hide, { modelId: LLAMA });
    const again = await olga.client(api.adminModels.show, { modelId: LLAMA });
    expect([again.entity.state, again.entity.version]).toEqual(['shipped', null]);
  });

  it('is not overwritten by an operator who has seen an older version', async () => {
    const { entity } = await edit({ modelId: LLAMA, fields: { contextLength: 65_536 } });
    for (const version of [null, '2026-01-01T00:00:00.000Z']) {
      await expect(edit({ modelId: LLAMA, version, fields: { licence: 'mit' } })).rejects.toMatchObject({
        status: 409,
        message: 'Somebody else has changed this model meanwhile. Compare with what they entered.',
      });
    }
    expect((await olga.client(api.adminModels.view, { modelId: LLAMA })).entity).toEqual(entity);
    const both = await Promise.allSettled(
      ['mit', 'apache-2.0'].map((licence) => edit({ modelId: LLAMA, version: entity.version, fields: { licence } })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('operators', () => {
  it('list all entries, find them, and choose those that differ', async () => {
    await create({ note: 'for the walrus people' });
    await edit({ modelId: LLAMA, fields: { contextLength: 65_536 } });
    await olga.client(api.adminModels.hide, { modelId: 'BAAI/bge-m3' });
    const list = (input: InputOf<typeof api.adminModels.list>) => olga.client(api.adminModels.list, input);
    const all = await list({});
    expect([all.totalCount, all.entities.length]).toEqual([models.length + 1, 10]);
    expect(all.entities.slice(0, 3).map(({ modelId, state }) => [modelId, state])).toEqual([
      ['BAAI/bge-m3', 'hidden'],
      [LLAMA, 'changed'],
      [NEW.modelId, 'added'],
    ]);
    const states = async (...wanted: ('shipped' | 'changed' | 'added' | 'hidden')[]) =>
      (await list({ states: wanted })).totalCount;
    expect(await states('changed', 'added', 'hidden')).toBe(3);
    expect(await states('shipped')).toBe(models.length - 2);
    const found = await list({ entityFilterRequest: { queryString: 'WALRUS people' } });
    expect(found.entities.map(({ modelId }) => modelId)).toEqual([NEW.modelId]);
    const byTitle = await list({
      entityFilterRequest: { orderByField: 'title', orderByDirection: 'asc', limit: 100 },
    });
    const titles = byTitle.entities.map(({ title }) => title);
    expect(titles).toEqual(titles.toSorted((a, b) => a.localeCompare(b, 'en')));
    await expect(list({ entityFilterRequest: { orderByField: 'rating' } })).rejects.toMatchObject({ status: 400 });
  });

  it('alone may see and change what is theirs', async () => {
    const { entity } = await edit({ modelId: LLAMA, fields: { contextLength: 65_536 } });
    const tries = [
      () => member.client(api.adminModels.list, {}),
      () => member.client(api.adminModels.view, { modelId: LLAMA }),
      () => create({}, member),
      () => edit({ modelId: LLAMA, version: entity.version, fields: { licence: 'mit' } }, member),
      () => member.client(api.adminModels.hide, { modelId: LLAMA }),
      () => member.client(api.adminModels.show, { modelId: LLAMA }),
      () => member.client(api.adminModels.delete, { modelId: LLAMA }),
    ];
    for (const one of tries) await expect.soft(one()).rejects.toMatchObject({ status: 403 });
    expect((await olga.client(api.adminModels.view, { modelId: LLAMA })).entity).toEqual(entity);
  });

  it('leave an entry of each change in their audit log', async () => {
    await create();
    await edit({ modelId: LLAMA, fields: { contextLength: 65_536 } });
    await olga.client(api.adminModels.hide, { modelId: 'BAAI/bge-m3' });
    await olga.client(api.adminModels.show, { modelId: 'BAAI/bge-m3' });
    await olga.client(api.adminModels.delete, { modelId: LLAMA });
    const { entities } = await olga.client(api.audit.listForOperators, { entityFilterRequest: { limit: 5 } });
    expect(
      entities.map(({ action, object, outcome, before, after }) => [
        action,
        object?.type,
        object?.label,
        outcome,
        before !== null,
        after !== null,
      ]),
    ).toEqual([
      ['admin/model/delete', 'admin/model', LLAMA, 'done', true, false],
      ['admin/model/show', 'admin/model', 'BAAI/bge-m3', 'done', true, false],
      ['admin/model/hide', 'admin/model', 'BAAI/bge-m3', 'done', false, true],
      ['admin/model/edit', 'admin/model', LLAMA, 'done', false, true],
      ['admin/model/create', 'admin/model', NEW.modelId, 'done', false, true],
    ]);
    expect(entities.every(({ actor, object }) => actor?.name === 'Olga' && /^\d+$/.test(object?.id ?? ''))).toBe(true);
  });
});

const WHOLE = 'Enter a whole number greater than 0';
/** What is changed in a valid entry, the field that is refused, and the message at it. */
const BAD: [Record<string, unknown>, string, string][] = [
  [{ modelId: ' ' }, 'modelId', 'Repository is required'],
  [{ modelId: 'walrus' }, 'modelId', 'Enter a repository of the hub: owner/name'],
  [{ modelId: 'acme/..' }, 'modelId', 'Enter a repository of the hub: owner/name'],
  [{ modelId: '--help/x' }, 'modelId', 'Enter a repository of the hub: owner/name'],
  [{ modelId: 'acme/_' }, 'modelId', 'The name of the repository must begin with a letter or a digit'],
  [{ source: [] }, 'source', 'Source is required'],
  [{ source: undefined }, 'source', 'Source is required'],
  [{ source: 'vendor datasheet, general knowledge' }, 'source', 'Source is required'],
  [{ source: [{}] }, 'source.0.url', 'Source is required'],
  [{ source: [{ url: '', note: '' }] }, 'source.0.url', 'Source is required'],
  [{ source: [{ url: 'http://a.example', note: 'n' }] }, 'source.0.url', 'Enter an address that begins with https://'],
  [{ source: [{ url: 'somebody said', note: 'n' }] }, 'source.0.url', 'Enter an address that begins with https://'],
  [{ source: [PAGE, { url: 'https://a.example', note: ' ' }] }, 'source.1.note', 'Say what the source tells'],
  [{ source: [{ repo: 'a', path: 'p', note: 'n' }] }, 'source.0.repo', 'Enter a repository: owner/name'],
  [{ source: [{ repo: 'a/b', note: 'n' }] }, 'source.0.path', 'Path is required'],
  [{ source: [{ repo: 'a/b', path: 'p' }] }, 'source.0.note', 'Say what the source tells'],
  [{ source: [{ computed: '' }] }, 'source.0.computed', 'Source is required'],
  [
    { source: [{ computed: 'twice', url: 'https://a.example' }] },
    'source.0.computed',
    'A source is a page, a file of a repository or a computation: one of them',
  ],
  [{ note: 'n'.repeat(1_001) }, 'note', 'Note is too long: at most 1,000 characters'],
  [{ fields: { name: '' } }, 'fields.name', 'Title is required'],
  [{ fields: { name: 'a\nb' } }, 'fields.name', 'Remove line breaks and invisible characters'],
  [{ fields: { publisher: undefined } }, 'fields.publisher', 'Publisher is required'],
  [{ fields: { publisher: 'p'.repeat(201) } }, 'fields.publisher', 'Too long: at most 200 characters'],
  [{ fields: { task: 'poetry' } }, 'fields.task', 'Please choose a task'],
  [{ fields: { parameters: undefined } }, 'fields.parameters', 'Parameters are required'],
  [{ fields: { parameters: {} } }, 'fields.parameters.total', WHOLE],
  [{ fields: { parameters: { total: 0 } } }, 'fields.parameters.total', WHOLE],
  [{ fields: { parameters: { total: -8e9 } } }, 'fields.parameters.total', WHOLE],
  [{ fields: { parameters: { total: 7.6 } } }, 'fields.parameters.total', WHOLE],
  [{ fields: { parameters: { total: '8B' } } }, 'fields.parameters.total', WHOLE],
  [{ fields: { parameters: { total: 1e300 } } }, 'fields.parameters.total', WHOLE],
  [
    { fields: { parameters: { total: 7_615_616 } } },
    'fields.parameters.total',
    'The architecture alone has more parameters than this total',
  ],
  [
    { fields: { parameters: { total: 7e9, active: 8e9 } } },
    'fields.parameters.active',
    'Active parameters cannot be more than all parameters',
  ],
  [{ fields: { layers: 0 } }, 'fields.layers', WHOLE],
  [{ fields: { contextLength: 1.5 } }, 'fields.contextLength', WHOLE],
  [{ fields: { kvHeads: 64 } }, 'fields.kvHeads', 'KV heads cannot be more than heads'],
  [{ fields: { activeExperts: 2 } }, 'fields.activeExperts', 'Active experts cannot be more than experts'],
  [
    { fields: { mla: { kvLoraRank: -1, qkRopeHeadDim: 64, qkNopeHeadDim: 128, vHeadDim: 128 } } },
    'fields.mla.kvLoraRank',
    WHOLE,
  ],
  [{ fields: { releasedAt: '2026-02-30' } }, 'fields.releasedAt', 'Enter a day as 2026-05-31, or a month as 2026-05'],
  [{ fields: { releasedAt: 'soon' } }, 'fields.releasedAt', 'Enter a day as 2026-05-31, or a month as 2026-05'],
  [{ fields: { precisions: [] } }, 'fields.precisions', 'Name at least one published file'],
  [
    { fields: { precisions: [{ precision: '', repository: 'a/b' }] } },
    'fields.precisions.0.precision',
    'Precision is required',
  ],
  [
    { fields: { precisions: [{ precision: 'fp3', repository: 'a/b' }] } },
    'fields.precisions.0.precision',
    'This precision is not known',
  ],
  [
    { fields: { precisions: [{ precision: 'bf16', repository: '' }] } },
    'fields.precisions.0.repository',
    'Repository is required',
  ],
  [
    { fields: { precisions: [{ precision: 'bf16', repository: 'https://hub/a/b' }] } },
    'fields.precisions.0.repository',
    'Enter a repository of the hub: owner/name',
  ],
  [
    { fields: { precisions: [{ precision: 'bf16', repository: '-a/b' }] } },
    'fields.precisions.0.repository',
    'Enter a repository of the hub: owner/name',
  ],
  [
    { fields: { precisions: [{ precision: 'bf16', repository: 'a/b" --api-key x' }] } },
    'fields.precisions.0.repository',
    'Enter a repository of the hub: owner/name',
  ],
  [
    { fields: { precisions: [{ precision: 'bf16', repository: 'a/$(id)' }] } },
    'fields.precisions.0.repository',
    'Enter a repository of the hub: owner/name',
  ],
  [
    { fields: { precisions: [{ precision: 'bf16', repository: 'a/b;reboot' }] } },
    'fields.precisions.0.repository',
    'Enter a repository of the hub: owner/name',
  ],
  [
    { fields: { precisions: [{ precision: 'gguf', repository: 'a/b', variants: ['Q8_0 --api-key x'] }] } },
    'fields.precisions.0.variants.0',
    'A file is named like Q4_K_M: letters, digits, dots, underscores and hyphens',
  ],
  [
    { fields: { precisions: [{ precision: 'gguf', repository: 'a/b', variants: ['-Q8_0'] }] } },
    'fields.precisions.0.variants.0',
    'A file is named like Q4_K_M: letters, digits, dots, underscores and hyphens',
  ],
  [
    { fields: { precisions: [{ precision: 'gguf', repository: 'a/b' }] } },
    'fields.precisions.0.variants',
    'Name the files of this repository, such as Q4_K_M',
  ],
];

/** A change may leave fields out, and its repository is that of the entry. */
const isOfEdit = (bad: Record<string, unknown>): boolean =>
  !('modelId' in bad) && !Object.values(bad.fields ?? {}).includes(undefined);

describe('what is refused', () => {
  it.each(BAD)('%j at %s', async (bad, field, message) => {
    const changed = { ...NEW, ...bad, fields: { ...NEW.fields, ...(bad.fields as object) } } as unknown as Create;
    const { status, fields } = await refusal(olga.client(api.adminModels.create, changed));
    expect([status, fields[field]]).toEqual([400, message]);
  });

  it.each(BAD.filter(([bad]) => isOfEdit(bad)))('%j of a change, at %s', async (bad, field, message) => {
    const { status, fields } = await refusal(edit({ ...bad, modelId: LLAMA }));
    expect([status, fields[field]]).toEqual([400, message]);
  });

  it('changes nothing, whichever field it is', async () => {
    for (const [bad] of BAD) {
      const changed = { ...NEW, ...bad, fields: { ...NEW.fields, ...(bad.fields as object) } } as unknown as Create;
      await refusal(olga.client(api.adminModels.create, changed));
    }
    const { rows } = await app.ctx.pg.query('select count(*)::int as n from catalogue_change');
    console.log(`refused entries: n = ${BAD.length}, changes: n = ${BAD.filter(([bad]) => isOfEdit(bad)).length}`);
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('is a field that the catalogue does not have', async () => {
    const { fields } = await refusal(
      olga.client(api.adminModels.create, { ...NEW, fields: { ...NEW.fields, tokensPerSecond: 5 } as never }),
    );
    expect(fields).toEqual({ fields: 'There is no field fields.tokensPerSecond' });
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { models } from '@stagi/perf/catalogueFiles.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';

const LLAMA = { id: 'meta-llama/Llama-3.1-8B-Instruct', page: '/models/llama-3.1-8b-instruct' };
const ORIGIN = 'https://stagi.example';

describe('the pages of the catalogue', () => {
  const webDir = mkdtempSync(join(tmpdir(), 'stagi-catalogue-'));
  let app: TestApp;

  beforeAll(async () => {
    writeFileSync(join(webDir, 'index.html'), '<head></head>plain');
    for (const language of ['en', 'ru'])
      for (const name of ['models', 'models/llama-3.1-8b-instruct']) {
        const file = join(webDir, 'prerendered', language, `${name}.html`);
        mkdirSync(join(file, '..'), { recursive: true });
        writeFileSync(
          file,
          `<html data-prerendered="${language}"><link rel="canonical" href="https://origin.invalid/${name}">prerendered ${language}`,
        );
      }
    app = await startTestApp({ STAGI_WEB_DIR: webDir, APP_ORIGIN: ORIGIN });
  });
  afterEach(() => app.ctx.db.deleteFrom('catalogue_change').execute());
  afterAll(async () => {
    await app?.close();
    rmSync(webDir, { recursive: true });
  });

  async function served(path: string, language = 'en') {
    const reply = await fetch(app.url + path, { redirect: 'manual', headers: { 'accept-language': language } });
    const body = await reply.text();
    const kind = /prerendered \w+|plain/.exec(body)?.[0] ?? null;
    return { status: reply.status, kind, body, location: reply.headers.get('location') };
  }

  const change = (id: string, kind: 'added' | 'changed' | 'hidden', fields: object = {}) =>
    app.ctx.db
      .insertInto('catalogue_change')
      .values({
        model_id: id,
        kind,
        fields: JSON.stringify(fields),
        source: JSON.stringify([{ url: 'https://example.com/card', note: 'its card' }]),
      } as never)
      .execute();

  it('are prerendered in the browser’s language and name their own address', async () => {
    for (const path of ['/models', LLAMA.page]) {
      expect(await served(path)).toMatchObject({ status: 200, kind: 'prerendered en' });
      const { kind, body } = await served(path, 'ru');
      expect(kind).toBe('prerendered ru');
      expect(body).toContain(`href="${ORIGIN}${path}"`);
    }
    expect(await served('/models?task=code')).toMatchObject({ status: 200, kind: 'plain' });
  });

  it('of a model stay the same with its repository and with choices in the address', async () => {
    const id = encodeURIComponent(LLAMA.id);
    for (const query of [`?id=${id}`, '?gpu=l4', `?gpu=l4&id=${id}`])
      expect(await served(LLAMA.page + query), query).toMatchObject({ status: 200, kind: 'prerendered en' });
    // Another model, by its repository alone.
    const other = encodeURIComponent('deepseek-ai/DeepSeek-V3');
    expect(await served(`${LLAMA.page}?id=${other}`)).toMatchObject({ status: 200, kind: 'plain' });
    expect(await served(`/models/renamed?id=${other}`)).toMatchObject({ status: 200, kind: 'plain' });
    // No model at all: the name counts.
    expect(await served(`${LLAMA.page}?id=nobody%2Fnothing`)).toMatchObject({ status: 302, location: LLAMA.page });
  });

  it('that do not exist are 404, whatever the address holds', async () => {
    for (const path of ['/models/no-such-model', '/models/a/b', '/models/..%2f..%2findex', '/models/x?id=y'])
      expect(await served(path), path).toMatchObject({ status: 404, kind: 'plain' });
    expect(await served('/models/')).toMatchObject({ status: 200, kind: 'plain' });
  });

  it('show nothing that an operator changed or hid', async () => {
    await change(LLAMA.id, 'changed', { licence: 'other' });
    expect(await served(LLAMA.page)).toMatchObject({ status: 200, kind: 'plain' });
    expect(await served('/models')).toMatchObject({ status: 200, kind: 'plain' });
    await app.ctx.db.updateTable('catalogue_change').set({ kind: 'hidden' }).execute();
    expect(await served(LLAMA.page)).toMatchObject({ status: 404, kind: 'plain' });
    expect(await served('/models')).toMatchObject({ status: 200, kind: 'plain' });
  });

  it('have those that an operator added beside the prerendered ones', async () => {
    const known = models.find(({ id }) => id === LLAMA.id)!;
    await change('acme/Own-Model', 'added', { ...known, id: 'acme/Own-Model', name: 'Own Model' });
    expect(await served('/models/own-model')).toMatchObject({ status: 200, kind: 'plain' });
    // The page shows them at once: it is told that it lacks some.
    const { body, ...page } = await served('/models');
    expect(page).toMatchObject({ status: 200, kind: 'prerendered en' });
    expect(body).toContain('<html data-outdated data-prerendered="en">');
    expect((await served(LLAMA.page)).body).not.toContain('data-outdated');
  });
});

import { api } from '@stagi/contract/api.ts';
import { fieldErrors } from '@stagi/contract/errors.ts';
import { describe, expect, it } from 'vitest';
import { connectDaemon } from '../testing/daemon.ts';
import { aRentedInstance } from '../testing/factories.ts';
import { readyServer } from './testing/readyServer.ts';

const TAKEN = ['a.b', 'a-b', 'a/b', '1ST', '42', 'with space', 'a:b', '%x%', 'ключ', '🚀', '"q"', 'two\nlines', '[x'];
const REFUSED = ['', '   ', 'a=b', '=', 'a\0b', '\ud800', 'x'.repeat(201)];

describe('names of variables', () => {
  const { at, join, create, request, view, wanted } = readyServer();
  const variable = (name: string) => ({ name, value: ' v=1\n' });

  it(`are all that Docker takes, in containers, edits, clones and templates (n = ${TAKEN.length})`, async () => {
    const { id } = await create({ env: TAKEN.map(variable) });
    const envOf = async (of: number) =>
      (await wanted(of)).containers.find((one) => one.id === of)!.spec.env.map(({ name, value }) => ({ name, value }));
    expect(await envOf(id)).toEqual(TAKEN.map(variable));
    const { entity: edited } = await at.alice.client(api.containers.edit, {
      ref: { id },
      env: [...TAKEN.map((name) => ({ name })), variable('x.new')],
    });
    expect(edited.envNames).toEqual([...TAKEN, 'x.new']);
    const { entity: clone } = await at.alice.client(
      api.containers.create,
      request({ cloneOf: { id }, env: TAKEN.map((name) => ({ name })) }),
    );
    expect(await envOf(clone.id)).toEqual(TAKEN.map(variable));
    const { entity: template } = await at.alice.client(api.containerTemplates.create, {
      containerRef: { id: clone.id },
      title: 'Odd names',
    });
    expect(template.fields.env).toEqual(TAKEN.map((name) => ({ name, value: null })));
    expect((await view(id)).envNames).toContain('a.b');
    console.log(`n = ${TAKEN.length} names`);
  });

  it(`are refused where Docker refuses them, or are too long (n = ${REFUSED.length})`, async () => {
    for (const name of REFUSED) {
      const error = await create({ env: [variable(name)] }).catch((thrown: unknown) => thrown);
      expect(Object.keys(fieldErrors(error)), JSON.stringify(name)).toEqual(['env.0.name']);
    }
    console.log(`n = ${REFUSED.length} names`);
  });

  it('are those of before on a server whose agent is older', async () => {
    const server = await aRentedInstance(at.app.ctx, at.alice);
    const daemon = await connectDaemon(at.app.url, await join(server), { facts: { launch: undefined } });
    const on = (name: string) => create({ instanceRef: { id: server }, env: [variable('PLAIN_1'), variable(name)] });
    expect((await on('also_plain')).envNames).toEqual(['PLAIN_1', 'also_plain']);
    const error = await on('a.b').catch((thrown: unknown) => thrown);
    expect(fieldErrors(error)).toEqual({
      'env.1.name': 'The agent of this server is too old for this: install it again',
    });
    await daemon.close();
  });
});

import { models } from '@stagi/perf/catalogueFiles.ts';
import { describe, expect, it } from 'vitest';
import { changedFields, draftOfEntry, fieldsOf, missingSources, newSource, numberOf } from './draft.ts';

describe('the form of an entry', () => {
  it('holds every field of every shipped entry', () => {
    let fields = 0;
    for (const model of models) {
      const { id, source, links, ...entry } = model;
      const sent = Object.entries(fieldsOf(draftOfEntry(model))).filter(([, value]) => value !== null);
      const whole = { ...Object.fromEntries(sent), parameters: entry.parameters };
      const precisions = entry.precisions.map(({ variants, ...file }) => {
        const named = [...new Set([...(variants ?? []), ...Object.keys({ ...file.filesGB, ...file.filesGiB })])];
        return { ...file, ...(named.length > 0 && { variants: named }) };
      });
      expect(JSON.parse(JSON.stringify(whole)), id).toEqual({ ...entry, precisions });
      expect([source.length > 0, links.length > 0]).toEqual([true, true]);
      fields += sent.length;
    }
    console.log(`entries in the form and back: n = ${models.length}, ${fields} fields`);
  });

  it('sends what was changed, and null for what was cleared', () => {
    const llama = models.find(({ id }) => id === 'meta-llama/Llama-3.1-8B-Instruct');
    const start = draftOfEntry(llama);
    expect(changedFields({ ...start, contextLength: '131,072', note: 'n' }, start)).toEqual({});
    expect(
      changedFields(
        {
          ...start,
          contextLength: '65536',
          licence: ' ',
          parameters: { total: '8 030 261 248', active: '' },
          mla: { ...start.mla, kvLoraRank: '512' },
        },
        start,
      ),
    ).toEqual({
      contextLength: 65_536,
      licence: null,
      mla: {
        kvLoraRank: 512,
        qLoraRank: undefined,
        qkRopeHeadDim: undefined,
        qkNopeHeadDim: undefined,
        vHeadDim: undefined,
      },
    });
  });

  it('takes over the sources that are not there yet', () => {
    const page = { ...newSource(), url: 'https://example.com/', note: 'a' };
    const other = { ...newSource(), url: 'https://example.com/', note: 'b' };
    expect(missingSources([page], [{ ...page, key: 'k' }, other])).toEqual([other]);
  });
});

describe('a typed number', () => {
  it.each([
    ['', null],
    [' 12 ', 12],
    ['8030261248', 8_030_261_248],
    ['8,030,261,248', 8_030_261_248],
    ['8 030 261 248', 8_030_261_248],
    ['8_030_261_248', 8_030_261_248],
    ['7.6', 7.6],
    ['-3', -3],
    // Neither a decimal comma nor a slip in the groups becomes another number.
    ['7,6', '7,6'],
    ['8,03,261', '8,03,261'],
    ['1,000 000', '1,000 000'],
    ['8B', '8B'],
    ['1e9', '1e9'],
  ])('%j is %j', (typed, number) => {
    expect(numberOf(typed)).toBe(number);
  });
});

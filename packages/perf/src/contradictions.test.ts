import { expect, it } from 'vitest';
import type { CatalogueModel } from './catalogue.ts';
import { models } from './catalogueFiles.ts';
import { contradictionOf } from './contradictions.ts';
import { shapeOf } from './shape.ts';

it('finds none in the checked-in catalogue', () => {
  const found = models.flatMap((model) => {
    const contradiction = contradictionOf(model);
    return contradiction ? [[model.id, contradiction.kind]] : [];
  });
  console.log(`contradictions: n = ${models.length} models, ${found.length} found`);
  expect(found).toEqual([]);
});

it('finds a total with three zeros too few in every model of known shape', () => {
  const shaped = models.filter((model) => shapeOf(model));
  const missed = shaped.filter(({ parameters, ...model }) => {
    const slipped: CatalogueModel = { ...model, parameters: { total: Math.round(parameters.total / 1000) } };
    return contradictionOf(slipped)?.kind !== 'too few parameters';
  });
  console.log(`three zeros too few: n = ${shaped.length} models, ${missed.length} missed`);
  expect(missed.map(({ id }) => id)).toEqual([]);
});

it('names the field of numbers that exclude each other', () => {
  const llama = models.find(({ id }) => id === 'meta-llama/Llama-3.1-8B-Instruct')!;
  const { total } = llama.parameters;
  expect(contradictionOf({ ...llama, parameters: { total, active: total + 1 } })?.field).toBe('parameters.active');
  expect(contradictionOf({ ...llama, kvHeads: llama.heads! + 1 })?.field).toBe('kvHeads');
  expect(contradictionOf({ ...llama, activeExperts: 2 })?.field).toBe('activeExperts');
  expect(contradictionOf({ ...llama, experts: 8, activeExperts: 9 })?.field).toBe('activeExperts');
});

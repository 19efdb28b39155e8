import { describe, expect, it } from 'vitest';
import { CatalogueModel, Gpu, Measurement, MODEL_TASKS } from './catalogue.ts';
import { gpus, measurements, models } from './catalogueFiles.ts';
import { familyOf, GPU_FAMILIES } from './factors.ts';
import { precisionOf } from './precision.ts';
import { shapeOf } from './shape.ts';

describe('the checked-in catalogue', () => {
  it('holds at least 80 models of every task and 35 GPUs, each once', () => {
    console.log(`catalogue: ${models.length} models, ${gpus.length} GPUs, ${measurements.length} measurements`);
    expect(models.length).toBeGreaterThanOrEqual(80);
    expect(gpus.length).toBeGreaterThanOrEqual(35);
    expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
    expect(new Set(gpus.map(({ id }) => id)).size).toBe(gpus.length);
    expect(new Set(models.map(({ task }) => task))).toEqual(new Set(MODEL_TASKS));
  });

  it('refuses an entry without a source, and a number that the schema does not know', () => {
    const entries = [
      [Gpu, gpus[0]!],
      [CatalogueModel, models[0]!],
      [Measurement, measurements[0]!],
    ] as const;
    for (const [schema, entry] of entries) {
      const { source, ...without } = entry;
      expect(schema.safeParse(entry).success).toBe(true);
      expect(source).toBeDefined();
      expect(schema.safeParse(without).success).toBe(false);
      for (const none of ['', [], 'somebody said so', [{ repo: 'a/b', path: 'c' }], [{ url: 'http://a.b', note: 'x' }]])
        expect(schema.safeParse({ ...entry, source: none }).success).toBe(false);
      expect(schema.safeParse({ ...entry, tokensPerSecond: 5 }).success).toBe(false);
    }
    expect(Gpu.safeParse({ ...gpus[0]!, source: [{ computed: 'twice the rate of one die' }] }).success).toBe(true);
  });

  it('knows the family of each GPU, and model and GPU of each measurement', () => {
    for (const gpu of gpus) expect(GPU_FAMILIES).toContain(familyOf(gpu));
    expect(gpus.filter((gpu) => familyOf(gpu) === 'older').map(({ computeCapability }) => computeCapability)).toEqual(
      expect.arrayContaining(['7.0', '7.5']),
    );
    for (const { model, gpu } of measurements) {
      expect(models.some(({ id }) => id === model)).toBe(true);
      expect(gpus.some(({ id }) => id === gpu)).toBe(true);
    }
  });

  it('knows the bytes of each published file but few', () => {
    const labels = models.flatMap(({ precisions }) =>
      precisions.flatMap(({ precision, variants }) =>
        (variants ?? [undefined]).map((variant) => [precision, variant] as const),
      ),
    );
    const unknown = labels.filter(([label, variant]) => precisionOf(label, variant) === undefined);
    console.log(
      `published files: n = ${labels.length}, ${unknown.length} of unknown size: ${[...new Set(unknown.flat())].join(', ')}`,
    );
    expect(unknown.length / labels.length).toBeLessThan(0.15);
    expect(unknown.every(([label]) => label === 'gguf' || label === 'ggml')).toBe(true);
  });

  it('splits the parameters of text models into parts that are all positive', () => {
    const shapes = models.flatMap((model) => {
      const shape = shapeOf(model);
      return shape ? [[model, shape] as const] : [];
    });
    expect(shapes.length).toBeGreaterThanOrEqual(75);
    for (const [model, shape] of shapes) {
      const sum =
        shape.denseParameters +
        shape.experts * shape.expertParameters +
        shape.embeddingParameters +
        shape.headParameters;
      expect(shape.denseParameters, model.id).toBeGreaterThan(0);
      expect(Math.abs(sum / model.parameters.total - 1), model.id).toBeLessThan(0.001);
      expect(shape.activeDenseParameters, model.id).toBeLessThanOrEqual(shape.denseParameters);
    }
  });
});

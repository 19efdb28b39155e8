import { describe, expect, it } from 'vitest';
import { gpus, models } from './catalogueFiles.ts';
import { fits } from './memory.ts';
import { sequenceBytes, shapeOf, weightBytes } from './shape.ts';

const model = (name: string) => models.find(({ id }) => id.endsWith(name))!;
const gpu = (id: string) => gpus.find((one) => one.id === id)!;
const base = { count: 1, precision: 'bf16', context: 4096, batch: 1 } as const;

describe('the KV cache', () => {
  const perToken = (name: string, gpusOfIt = 1) => {
    const shape = shapeOf(model(name))!;
    return (sequenceBytes(shape, 40_000, 2, gpusOfIt) - sequenceBytes(shape, 39_000, 2, gpusOfIt)) / 1000;
  };

  it('takes what the published shapes say per token', () => {
    // 2 · layers · KV heads · head size · 2 bytes.
    expect(perToken('Llama-2-7b-hf')).toBe(2 * 32 * 32 * 128 * 2);
    expect(perToken('Llama-3.1-8B-Instruct')).toBe(2 * 32 * 8 * 128 * 2);
    // A latent of 512 + 64 per layer.
    expect(perToken('DeepSeek-V3')).toBe(61 * 576 * 2);
    // Only full-attention layers grow past the window.
    expect(perToken('gpt-oss-120b')).toBe(2 * 18 * 8 * 64 * 2);
    expect(perToken('Qwen3.5-27B')).toBe(2 * 16 * 4 * 256 * 2);
  });

  it('is split over GPUs as far as there are KV heads, and a latent is copied', () => {
    expect(perToken('Llama-3.1-70B-Instruct', 8)).toBe(perToken('Llama-3.1-70B-Instruct') / 8);
    expect(perToken('Qwen3-30B-A3B', 8)).toBe(perToken('Qwen3-30B-A3B') / 4);
    expect(perToken('DeepSeek-V3', 8)).toBe(perToken('DeepSeek-V3'));
  });
});

describe('weights', () => {
  it('take the size of published files', () => {
    // Source: ggml-org/llama.cpp, tools/quantize/README.md: Q4_K_M of 8B 4.9 GB, of 70B 43.1 GB, of 405B 249.1 GB.
    const sizes = { 'Llama-3.1-8B-Instruct': 4.9, 'Llama-3.1-70B-Instruct': 43.1, 'Llama-3.1-405B-Instruct': 249.1 };
    for (const [name, gigabytes] of Object.entries(sizes))
      expect(weightBytes(shapeOf(model(name))!, 'gguf-q4_k_m') / 1e9 / gigabytes).toBeCloseTo(1, 1);
    // Source: ggml-org/gemma-3-27b-it-GGUF: 16.5 GB.
    expect(weightBytes(shapeOf(model('gemma-3-27b-it'))!, 'gguf-q4_k_m') / 16.5e9).toBeCloseTo(1, 1);
  });
});

describe('fits', () => {
  it('says yes, or which part is too big', () => {
    const small = model('Llama-3.1-8B-Instruct');
    const big = model('Llama-3.1-70B-Instruct');
    expect(fits({ ...base, model: small, gpu: gpu('l4') })).toMatchObject({ fits: true, reason: null });
    expect(fits({ ...base, model: big, gpu: gpu('h100-sxm') })).toMatchObject({ fits: false, reason: 'weights' });
    expect(fits({ ...base, model: big, gpu: gpu('h100-sxm'), count: 4 }).fits).toBe(true);
    expect(fits({ ...base, model: small, gpu: gpu('l4'), batch: 64 })).toMatchObject({ fits: false, reason: 'cache' });
    expect(fits({ ...base, model: small, gpu: gpu('h100-sxm'), context: 200_000 }).reason).toBe('context');
    expect(fits({ ...base, model: small, gpu: gpu('h100-sxm'), count: 3 }).reason).toBe('heads');
  });

  it('counts the parts of one GPU, and how many sequences have room', () => {
    const { parts, sequences } = fits({ ...base, model: model('Llama-3.1-8B-Instruct'), gpu: gpu('a100-sxm-40') });
    expect(parts.weights / 1e9).toBeCloseTo(16.06, 1);
    expect(parts.cache / 2 ** 20).toBeCloseTo(512 + 1, 0);
    expect(parts.total).toBe(parts.weights + parts.cache + parts.activations + parts.runtime);
    expect(sequences).toBeGreaterThan(30);
    expect(
      fits({ ...base, model: model('Llama-3.1-8B-Instruct'), gpu: gpu('a100-sxm-40'), batch: sequences }).fits,
    ).toBe(true);
    expect(
      fits({ ...base, model: model('Llama-3.1-8B-Instruct'), gpu: gpu('a100-sxm-40'), batch: sequences + 1 }).fits,
    ).toBe(false);
  });

  it('judges models without a text shape by their weights, and says that it is a bound', () => {
    const image = models.find(({ task }) => task === 'image-generation')!;
    expect(fits({ ...base, model: image, gpu: gpu('h100-sxm') })).toMatchObject({ fits: true, isUpperBound: true });
    expect(fits({ ...base, model: image, gpu: gpu('t4') }).fits).toBe(false);
  });
});

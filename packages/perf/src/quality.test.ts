import { describe, expect, it } from 'vitest';
import { gpus, models } from './catalogueFiles.ts';
import { gpuOf } from './gpuNames.ts';
import { leastGpus } from './leastGpus.ts';
import { fileOf, filesOf, QUALITIES } from './quality.ts';

const modelOf = (id: string) => models.find((model) => model.id === id)!;

describe('qualities', () => {
  it('gives every model the file that its publisher released as its original', () => {
    expect(models.length).toBeGreaterThanOrEqual(80);
    for (const model of models) expect.soft(fileOf(filesOf(model), 'original')?.repository, model.id).toBe(model.id);
  });

  it('orders files from small to exact, and has no quality that nobody publishes', () => {
    const files = filesOf(modelOf('meta-llama/Llama-3.1-8B-Instruct'));
    expect(QUALITIES.map((quality) => fileOf(files, quality)?.precision)).toEqual([
      'gguf-q3_k_l',
      'nvfp4',
      'gguf-q6_k',
      'fp8',
      'bf16',
    ]);
    expect(fileOf(files, 'M', 'gguf')).toMatchObject({ variant: 'Q4_K_M', format: 'gguf' });
    const embedding = models.find(({ task, precisions }) => task === 'embedding' && precisions.length === 1)!;
    expect(fileOf(filesOf(embedding), 'S')).toBeUndefined();
  });
});

describe('least GPUs', () => {
  const onH100 = (id: string, context = 8192) => {
    const model = modelOf(id);
    const file = fileOf(filesOf(model), 'original')!;
    return leastGpus({ model, gpu: gpus.find((gpu) => gpu.id === 'h100-sxm')!, file, context, batch: 1 });
  };

  it('counts GPUs of a server, and says why eight do not suffice', () => {
    expect(onH100('meta-llama/Llama-3.1-8B-Instruct').count).toBe(1);
    expect(onH100('meta-llama/Llama-3.3-70B-Instruct').count).toBe(4);
    const beyond = onH100('meta-llama/Llama-3.1-8B-Instruct', 1_000_000);
    expect([beyond.count, beyond.fit.reason]).toEqual([null, 'context']);
  });
});

describe('names of GPUs', () => {
  it.each<[string, number, string | undefined]>([
    ['NVIDIA H100 80GB HBM3', 79.6, 'h100-pcie'],
    ['NVIDIA H100 SXM5 80GB', 80, 'h100-sxm'],
    ['H100 PCIe', 80, 'h100-pcie'],
    ['NVIDIA H100 NVL', 93.6, 'h100-nvl'],
    ['NVIDIA A100-SXM4-80GB', 80, 'a100-sxm-80'],
    ['NVIDIA A100-SXM4-40GB', 40, 'a100-sxm-40'],
    ['A100', 80, 'a100-pcie-80'],
    ['NVIDIA L4', 22.5, 'l4'],
    ['L40S', 48, 'l40s'],
    ['L40', 48, 'l40'],
    ['Tesla T4', 15, 't4'],
    ['NVIDIA GeForce RTX 4090', 24, 'rtx-4090'],
    ['RTX 4090', 24, 'rtx-4090'],
    ['NVIDIA RTX A6000', 48, 'rtx-a6000'],
    ['NVIDIA RTX 6000 Ada Generation', 48, 'rtx-6000-ada'],
    ['NVIDIA A10G', 22.5, 'a10g'],
    ['AMD Instinct MI300X', 192, 'mi300x'],
    ['NVIDIA H200', 141, 'h200-sxm'],
    ['NVIDIA GeForce GTX 1080', 8, undefined],
    ['H100', 40, undefined],
    ['', 80, undefined],
  ])('%s with %d GB is %s', (name, memoryGb, id) => {
    expect(gpuOf(gpus, name, memoryGb)?.id).toBe(id);
  });

  it('knows every GPU of the catalogue by its own name', () => {
    for (const gpu of gpus)
      expect
        .soft(gpuOf(gpus, gpu.name, gpu.memoryGb)?.memoryBandwidthGBs, gpu.name)
        .toBeLessThanOrEqual(gpu.memoryBandwidthGBs);
  });
});

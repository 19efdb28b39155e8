import type { Gpu } from './catalogue.ts';
import type { Precision } from './precision.ts';

export const ENGINES = ['vllm', 'sglang', 'tensorrt-llm', 'lmdeploy', 'llama.cpp'] as const;
export type Engine = (typeof ENGINES)[number];

export interface EngineSettings {
  /** Part of the GPU's memory that the engine takes. */
  memoryShare: number;
  /** Tokens of the largest step. */
  stepTokens: number;
  /** Running sequences at most. */
  sequences: number;
  /** Bytes of an element of the KV cache, as the engine chooses when nothing is set. */
  cacheBytes: number;
}

/**
 * Defaults of the engines. Sources: vllm-project/vllm, `EngineArgs` (`gpu_memory_utilization` 0.9; above 70 GiB except
 * A100, 8192 tokens and 1024 sequences in a step, else 2048 and 256); TensorRT-LLM benchmarks (8192 tokens, 2048
 * sequences, fp8 checkpoints of NVIDIA bring an fp8 cache); llama.cpp, `llama-server --help` (micro-batch of 512).
 */
export function engineSettings(engine: Engine, gpu: Gpu, precision: Precision): EngineSettings {
  const isLarge = gpu.memoryGb >= 75 && gpu.computeCapability !== '8.0';
  switch (engine) {
    case 'vllm':
      return {
        memoryShare: 0.9,
        stepTokens: isLarge ? 8192 : 2048,
        sequences: isLarge ? 1024 : 256,
        cacheBytes: 2,
      };
    case 'sglang':
      return { memoryShare: 0.88, stepTokens: isLarge ? 8192 : 2048, sequences: 1024, cacheBytes: 2 };
    case 'tensorrt-llm':
      return {
        memoryShare: 0.9,
        stepTokens: 8192,
        sequences: 2048,
        cacheBytes: precision === 'fp8' || precision === 'nvfp4' ? 1 : 2,
      };
    case 'lmdeploy':
      return { memoryShare: 0.9, stepTokens: 8192, sequences: 128, cacheBytes: 2 };
    case 'llama.cpp':
      return { memoryShare: 0.95, stepTokens: 512, sequences: 16, cacheBytes: 2 };
  }
}

import type { Gpu } from './catalogue.ts';

/**
 * Bits per weight of GGUF files, counted over the whole file. Source: ggml-org/llama.cpp, tools/quantize/README.md,
 * table for Llama 3.1 8B. `Q3_K_M`, `Q4_0`, `Q4_1`, `Q5_0`: block sizes of ggml (computed: bits and scale of a block of
 * 32, or the mean of the neighbours for `Q3_K_M`).
 */
const GGUF_BITS = {
  iq1_s: 2.0042,
  iq1_m: 2.146,
  iq2_xxs: 2.3824,
  iq2_xs: 2.5882,
  iq2_s: 2.7403,
  iq2_m: 2.9294,
  q2_k: 3.1593,
  iq3_xxs: 3.2548,
  iq3_xs: 3.4977,
  q3_k_s: 3.6429,
  iq3_m: 3.7628,
  q3_k_m: 3.97,
  q3_k_l: 4.2979,
  iq4_xs: 4.4597,
  q4_0: 4.5,
  q4_k_s: 4.6672,
  iq4_nl: 4.6818,
  q4_k_m: 4.8944,
  q4_1: 5,
  q5_0: 5.5,
  q5_k_s: 5.5704,
  q5_k_m: 5.7036,
  q6_k: 6.5633,
  q8_0: 8.5008,
} as const;
type GgufType = keyof typeof GGUF_BITS;

const FORMATS = ['fp32', 'bf16', 'fp16', 'fp8', 'int8', 'gptq-int8', 'awq', 'gptq', 'int4', 'nvfp4', 'mxfp4'] as const;
type Format = (typeof FORMATS)[number];

/** Format of the published weights. */
export type Precision = Format | `gguf-${GgufType}`;

export const PRECISIONS: readonly Precision[] = [
  ...FORMATS,
  ...(Object.keys(GGUF_BITS) as GgufType[]).map((type) => `gguf-${type}` as const),
];

/** Labels of catalogues and measurements that mean one of the formats. */
const SYNONYMS: Record<string, Precision> = {
  fp4: 'nvfp4',
  'gptq-int4': 'gptq',
  'awq int4': 'awq',
  'awq int4 (marlin)': 'awq',
  'gguf q4_k_m': 'gguf-q4_k_m',
};

/** The format that a published label names, `undefined` for one we have no numbers for. */
export function precisionOf(label: string, variant?: string): Precision | undefined {
  const name = label.toLowerCase();
  if (name === 'gguf' || name === 'ggml') {
    if (!variant) return undefined;
    const type = variant.toLowerCase().replace(/^ud-/, '');
    if (type === 'f16' || type === 'fp16' || type === 'bf16') return 'fp16';
    return type in GGUF_BITS ? (`gguf-${type}` as Precision) : undefined;
  }
  return SYNONYMS[name] ?? PRECISIONS.find((precision) => precision === name);
}

interface WeightFormat {
  /** Bytes of a weight of the layers, with scales. */
  bytes: number;
  /** Bytes of a weight of embedding and head: often left at 16 bits. */
  embeddingBytes: number;
  /** Weights outside the experts, where they differ from those of the experts. */
  outsideExperts?: number;
  group: PrecisionGroup;
}

/** Formats that share kernels, and so efficiency factors. */
export const PRECISION_GROUPS = ['16-bit', '8-bit', 'fp4', 'int4', 'gguf'] as const;
export type PrecisionGroup = (typeof PRECISION_GROUPS)[number];

/**
 * Bytes per weight. Source: inference.md, "Quantisation": int4 with groups of 128 is 0.52 to 0.56 bytes, mxfp4 0.53,
 * nvfp4 0.56. mxfp4 and int4 releases quantise the experts alone (model cards of gpt-oss and Kimi K2.5).
 */
export function weightFormat(precision: Precision): WeightFormat {
  switch (precision) {
    case 'fp32':
      return { bytes: 4, embeddingBytes: 4, group: '16-bit' };
    case 'bf16':
    case 'fp16':
      return { bytes: 2, embeddingBytes: 2, group: '16-bit' };
    case 'fp8':
    case 'int8':
      return { bytes: 1, embeddingBytes: 2, group: '8-bit' };
    case 'gptq-int8':
      return { bytes: 1.02, embeddingBytes: 2, group: '8-bit' };
    case 'awq':
    case 'gptq':
      return { bytes: 0.53, embeddingBytes: 2, group: 'int4' };
    case 'int4':
      return { bytes: 0.53, embeddingBytes: 2, outsideExperts: 2, group: 'int4' };
    case 'mxfp4':
      return { bytes: 0.53, embeddingBytes: 2, outsideExperts: 2, group: 'fp4' };
    case 'nvfp4':
      return { bytes: 0.5625, embeddingBytes: 2, group: 'fp4' };
    default: {
      const bytes = GGUF_BITS[precision.slice('gguf-'.length) as GgufType] / 8;
      return { bytes, embeddingBytes: bytes, group: 'gguf' };
    }
  }
}

/**
 * FLOP/s that matrix work on weights of this format can reach. Formats that quantise only weights compute at 16 bits, as
 * does a format that the GPU has no tensor rate for. Source: inference.md, "Quantisation".
 */
export function peakFlops(gpu: Gpu, precision: Precision): number {
  const { fp32, bf16, fp16, fp8, int8, fp4 } = gpu.peakDenseTflops;
  const sixteen = bf16 ?? fp16;
  switch (precision) {
    case 'fp32':
      return (fp32 ?? sixteen / 8) * 1e12;
    case 'fp8':
      return (fp8 ?? sixteen) * 1e12;
    case 'int8':
      return (int8 ?? sixteen) * 1e12;
    case 'nvfp4':
      return (fp4 ?? sixteen) * 1e12;
    case 'mxfp4':
      // Activations are 8-bit at best.
      return (fp4 && fp8 ? fp8 : sixteen) * 1e12;
    default:
      return sixteen * 1e12;
  }
}

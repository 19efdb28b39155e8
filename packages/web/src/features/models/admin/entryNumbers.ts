import { text } from '@stagi/contract/text.ts';

/** The numbers of an entry by field; a field that is an object, with its parts. */
export const NUMBERS = {
  parameters: ['total', 'active'],
  contextLength: null,
  layers: null,
  hiddenSize: null,
  heads: null,
  kvHeads: null,
  headDim: null,
  intermediateSize: null,
  vocabSize: null,
  experts: null,
  activeExperts: null,
  moeIntermediateSize: null,
  sharedExperts: null,
  sharedExpertIntermediateSize: null,
  denseLayers: null,
  denseIntermediateSize: null,
  moeLayerStep: null,
  mla: ['kvLoraRank', 'qLoraRank', 'qkRopeHeadDim', 'qkNopeHeadDim', 'vHeadDim'],
  fullAttentionLayers: null,
  fullAttentionInterval: null,
  slidingWindow: null,
  globalKvHeads: null,
  globalHeadDim: null,
  sparseAttention: ['indexTopK'],
  hybridPattern: ['mamba', 'attention', 'moe', 'mlp'],
  embeddingDimensions: null,
  encoderLayers: null,
  decoderLayers: null,
  melBins: null,
  audioContext: null,
  doubleLayers: null,
  singleLayers: null,
} as const satisfies Record<string, readonly string[] | null>;

type Field = keyof typeof NUMBERS;
export type NumberGroup = { [F in Field]: (typeof NUMBERS)[F] extends null ? never : F }[Field];
export type NumberName = Exclude<Field, NumberGroup>;

/** The numbers of the architecture, by their paths in the form, as papers and configuration files call them. */
export const ARCHITECTURE: readonly { title: string; numbers: readonly (readonly [path: string, label: string])[] }[] =
  [
    {
      title: text('Layers and heads'),
      numbers: [
        ['layers', text('Layers')],
        ['hiddenSize', text('Hidden size')],
        ['heads', text('Attention heads')],
        ['kvHeads', text('KV heads')],
        ['headDim', text('Head dimension')],
        ['intermediateSize', text('Intermediate size')],
        ['vocabSize', text('Vocabulary')],
      ],
    },
    {
      title: text('Experts'),
      numbers: [
        ['experts', text('Experts')],
        ['activeExperts', text('Active experts')],
        ['moeIntermediateSize', text('Intermediate size of an expert')],
        ['sharedExperts', text('Shared experts')],
        ['sharedExpertIntermediateSize', text('Intermediate size of a shared expert')],
        ['denseLayers', text('First layers without experts')],
        ['denseIntermediateSize', text('Intermediate size of dense layers')],
        ['moeLayerStep', text('Every n-th layer has experts')],
      ],
    },
    {
      title: text('Latent attention (MLA)'),
      numbers: [
        ['mla.kvLoraRank', text('KV rank')],
        ['mla.qLoraRank', text('Query rank')],
        ['mla.qkRopeHeadDim', text('Head dimension with positions')],
        ['mla.qkNopeHeadDim', text('Head dimension without positions')],
        ['mla.vHeadDim', text('Head dimension of values')],
      ],
    },
    {
      title: text('Other attention'),
      numbers: [
        ['fullAttentionLayers', text('Layers with full attention')],
        ['fullAttentionInterval', text('Every n-th layer has full attention')],
        ['slidingWindow', text('Sliding window in tokens')],
        ['globalKvHeads', text('KV heads of full attention')],
        ['globalHeadDim', text('Head dimension of full attention')],
        ['sparseAttention.indexTopK', text('Tokens that sparse attention reads')],
        ['hybridPattern.mamba', text('Mamba layers')],
        ['hybridPattern.attention', text('Attention layers')],
        ['hybridPattern.moe', text('Layers of experts')],
        ['hybridPattern.mlp', text('Feed-forward layers')],
      ],
    },
    {
      title: text('Embeddings, speech and images'),
      numbers: [
        ['embeddingDimensions', text('Embedding dimensions')],
        ['encoderLayers', text('Encoder layers')],
        ['decoderLayers', text('Decoder layers')],
        ['melBins', text('Mel bins')],
        ['audioContext', text('Audio context')],
        ['doubleLayers', text('Double blocks')],
        ['singleLayers', text('Single blocks')],
      ],
    },
  ];

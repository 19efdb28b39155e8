import { writeFile } from 'node:fs/promises';
import { type GgufValue, type Tensor, writeGguf } from './gguf.ts';

/**
 * A model of the llama architecture with random weights: an engine loads and runs it as any other, and its answers are
 * words without meaning. Its tensors and keys are those llama.cpp asks for (`llama.*` and `tokenizer.ggml.*`, see
 * `gguf.ts` for the source of the format).
 */
export const TINY_MODEL = {
  name: 'tiny-random-llama',
  layers: 4,
  width: 128,
  heads: 4,
  headsOfKeys: 2,
  feedForward: 384,
  contextLength: 4096,
} as const;

const SPACE = '▁';
const CONTROL = ['<|system|>', '<|user|>', '<|assistant|>', '<|end|>'];
const CHAT_TEMPLATE = `{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}`;
const WORDS =
  `a about after again air all also always and animal answer are as at away back be because before began begin
between big bird blue boat book both bridge bring build but by call came can carry change children city clear close cloud
cold color come could country cut dark day deep did different do door down draw each early earth east eat end enough even
every example eye face family far farm father feet few field find fire first fish follow food for form found four friend
from garden gave get girl give go good grass great green ground group grow had half hand hard has have he head hear help
her here high hill him his home horse house how idea if important in into is island it just keep kind king know land large
last late laugh lead learn leave left letter life light like line list little live long look made make man many map mark
may me mean might mile money moon more morning most mother mountain move much music must my name near need never new next
night no north not note now number of off often old on once one only open or other our out over own page paper part people
place plant play point quick quiet rain read river road room round run said same saw say school sea second see seem set she
ship short should show side sing sky sleep slow small snow so some song soon sound south space stand star start still stone
stop story street strong such sun table take talk tell than that the their them then there these they thing think this
those thought three through time to together too tree turn two under until up us use very voice walk want warm was watch
water way we well went were west what when where which while white who why will wind window winter with wood word work
world would write year yellow you young your`.split(/\s+/);

const KINDS = { normal: 1, unknown: 2, control: 3, byte: 6 } as const;

/** `bias` is added to the logit of the token: it keeps answers printable, and going on until they are as long as asked. */
interface Token {
  text: string;
  kind: keyof typeof KINDS;
  bias: number;
}

const NEVER = -40;

/** Every byte and every printable character of ASCII, so that each text can be tokenized; words and their beginnings. */
function vocabulary(): Token[] {
  const tokens: Token[] = [
    { text: '<unk>', kind: 'unknown', bias: NEVER },
    { text: '<s>', kind: 'control', bias: NEVER },
    { text: '</s>', kind: 'control', bias: NEVER },
  ];
  for (let byte = 0; byte < 256; byte++)
    tokens.push({ text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, kind: 'byte', bias: NEVER });
  for (const text of CONTROL) tokens.push({ text, kind: 'control', bias: NEVER });

  const pieces = new Map<string, number>();
  for (let code = 0x21; code < 0x7f; code++) pieces.set(String.fromCharCode(code), NEVER);
  pieces.set(SPACE, NEVER);
  // Text is merged from the left, so a word is found only when its beginnings are there.
  for (const word of WORDS) for (let end = 1; end < word.length; end++) pieces.set(SPACE + word.slice(0, end), NEVER);
  for (const word of WORDS) pieces.set(SPACE + word, 0);
  for (const mark of ['.', ',']) pieces.set(mark, -1);
  for (const [text, bias] of pieces) tokens.push({ text, kind: 'normal', bias });
  return tokens;
}

/** The bytes of the file; the same for the same seed. */
export function tinyModel(seed = 1): Buffer {
  const { name, layers, width, heads, headsOfKeys, feedForward, contextLength } = TINY_MODEL;
  const tokens = vocabulary();
  const idOf = (text: string) => tokens.findIndex((token) => token.text === text);
  const headWidth = width / heads;
  const uint32 = (value: number): GgufValue => ({ type: 'uint32', value });
  const metadata: Record<string, GgufValue> = {
    'general.architecture': 'llama',
    'general.name': name,
    'general.description': `Random weights of seed ${seed}`,
    'general.file_type': uint32(0),
    'llama.vocab_size': uint32(tokens.length),
    'llama.context_length': uint32(contextLength),
    'llama.embedding_length': uint32(width),
    'llama.block_count': uint32(layers),
    'llama.feed_forward_length': uint32(feedForward),
    'llama.rope.dimension_count': uint32(headWidth),
    'llama.attention.head_count': uint32(heads),
    'llama.attention.head_count_kv': uint32(headsOfKeys),
    'llama.attention.layer_norm_rms_epsilon': { type: 'float32', value: 1e-5 },
    'tokenizer.ggml.model': 'llama',
    'tokenizer.ggml.tokens': { array: 'string', values: tokens.map(({ text }) => text) },
    // Of two possible merges the one with the higher score comes first.
    'tokenizer.ggml.scores': {
      array: 'float32',
      values: tokens.map(({ kind }, id) => (kind === 'normal' ? -id : 0)),
    },
    'tokenizer.ggml.token_type': { array: 'int32', values: tokens.map(({ kind }) => KINDS[kind]) },
    'tokenizer.ggml.unknown_token_id': uint32(idOf('<unk>')),
    'tokenizer.ggml.bos_token_id': uint32(idOf('<s>')),
    'tokenizer.ggml.eos_token_id': uint32(idOf('</s>')),
    'tokenizer.ggml.add_bos_token': true,
    'tokenizer.chat_template': CHAT_TEMPLATE,
  };
  return writeGguf(metadata, weights(tokens, seed));
}

export const writeTinyModel = (path: string, seed = 1): Promise<void> => writeFile(path, tinyModel(seed));

/** What the first dimension of each embedding is, and about what it is after the last normalization. */
const CONSTANT = 8;
const CONSTANT_AT_END = 6;

/**
 * The first dimension of what the layers pass on is the same for every token, because embeddings set it and no layer
 * writes to it. So the output's weight in that dimension is a bias on each token.
 */
function weights(tokens: Token[], seed: number): Tensor[] {
  const { layers, width, heads, headsOfKeys, feedForward } = TINY_MODEL;
  const random = uniform(seed);
  const tensors: Tensor[] = [];
  const add = (
    name: string,
    dimensions: [number] | [number, number],
    valueAt: (column: number, row: number) => number,
  ) => {
    const [columns, rows = 1] = dimensions;
    const data = Float32Array.from({ length: columns * rows }, (_, at) =>
      valueAt(at % columns, Math.floor(at / columns)),
    );
    tensors.push({ name: `${name}.weight`, dimensions, data });
  };
  const matrix = (name: string, columns: number, rows: number, { keepsFirst = false } = {}) => {
    const scale = Math.sqrt(3 / columns);
    add(name, [columns, rows], (_, row) => {
      const value = random() * scale;
      return keepsFirst && row === 0 ? 0 : value;
    });
  };
  const ones = (name: string) => add(name, [width], () => 1);

  add('token_embd', [width, tokens.length], (column) => (column === 0 ? CONSTANT : random() * Math.sqrt(3)));
  for (let layer = 0; layer < layers; layer++) {
    const block = `blk.${layer}`;
    ones(`${block}.attn_norm`);
    matrix(`${block}.attn_q`, width, width);
    matrix(`${block}.attn_k`, width, (width / heads) * headsOfKeys);
    matrix(`${block}.attn_v`, width, (width / heads) * headsOfKeys);
    matrix(`${block}.attn_output`, width, width, { keepsFirst: true });
    ones(`${block}.ffn_norm`);
    matrix(`${block}.ffn_gate`, width, feedForward);
    matrix(`${block}.ffn_up`, width, feedForward);
    matrix(`${block}.ffn_down`, feedForward, width, { keepsFirst: true });
  }
  ones('output_norm');
  // Two standard deviations of a logit: some words follow a word more often than others, none always.
  add('output', [width, tokens.length], (column, row) =>
    column === 0 ? tokens[row]!.bias / CONSTANT_AT_END : 2 * random() * Math.sqrt(3 / width),
  );
  return tensors;
}

/** Numbers from -1 to 1 by mulberry32, in arithmetic that is exact on every machine. */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

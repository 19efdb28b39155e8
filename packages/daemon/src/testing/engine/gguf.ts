import { closeSync, openSync, readSync } from 'node:fs';

/**
 * GGUF version 3, little-endian: the file format of models for llama.cpp. Source:
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
const MAGIC = 'GGUF';
const VERSION = 3;
/** What offsets of tensors are multiples of when the file names nothing else. */
const ALIGNMENT = 32;

const TYPES = { uint8: 0, int8: 1, uint16: 2, int16: 3, uint32: 4, int32: 5, float32: 6, bool: 7 } as const;
const STRING = 8;
const ARRAY = 9;
const WIDE = { uint64: 10, int64: 11, float64: 12 } as const;
const GGML_F32 = 0;

type Scalar = 'uint32' | 'int32' | 'float32';
export type GgufValue =
  | string
  | boolean
  | { type: Scalar; value: number }
  | { array: 'string'; values: string[] }
  | { array: Scalar; values: number[] };

/** `dimensions` as in the file: the length of a row comes first. */
export interface Tensor {
  name: string;
  dimensions: number[];
  data: Float32Array;
}

/** A whole file in memory. Keys and tensors stand in the order given, so equal input makes equal bytes. */
export function writeGguf(metadata: Record<string, GgufValue>, tensors: Tensor[]): Buffer {
  const parts: Buffer[] = [];
  let written = 0;
  const put = (part: Buffer) => {
    parts.push(part);
    written += part.length;
  };
  const pad = () => put(Buffer.alloc((ALIGNMENT - (written % ALIGNMENT)) % ALIGNMENT));

  put(Buffer.from(MAGIC));
  put(uint32(VERSION));
  put(uint64(tensors.length));
  put(uint64(Object.keys(metadata).length));
  for (const [key, value] of Object.entries(metadata)) put(Buffer.concat([string(key), ...typed(value)]));
  let offset = 0;
  for (const { name, dimensions, data } of tensors) {
    if (dimensions.reduce((product, length) => product * length, 1) !== data.length)
      throw new Error(`${name} has ${data.length} values for ${dimensions.join(' × ')}`);
    const lengths = dimensions.map(uint64);
    put(Buffer.concat([string(name), uint32(lengths.length), ...lengths, uint32(GGML_F32), uint64(offset)]));
    offset += Math.ceil(data.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  for (const { data } of tensors) {
    pad();
    put(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  }
  return Buffer.concat(parts);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function string(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function scalar(type: Scalar, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  if (type === 'float32') bytes.writeFloatLE(value);
  else if (type === 'int32') bytes.writeInt32LE(value);
  else bytes.writeUInt32LE(value);
  return bytes;
}

function typed(value: GgufValue): Buffer[] {
  if (typeof value === 'string') return [uint32(STRING), string(value)];
  if (typeof value === 'boolean') return [uint32(TYPES.bool), Buffer.from([Number(value)])];
  if ('type' in value) return [uint32(TYPES[value.type]), scalar(value.type, value.value)];
  const [type, items] =
    value.array === 'string'
      ? [STRING, value.values.map(string)]
      : [TYPES[value.array], value.values.map((item) => scalar(value.array, item))];
  return [uint32(ARRAY), uint32(type), uint64(items.length), ...items];
}

const SIZES: Record<number, number> = {
  [TYPES.uint8]: 1,
  [TYPES.int8]: 1,
  [TYPES.bool]: 1,
  [TYPES.uint16]: 2,
  [TYPES.int16]: 2,
  [TYPES.uint32]: 4,
  [TYPES.int32]: 4,
  [TYPES.float32]: 4,
  [WIDE.uint64]: 8,
  [WIDE.int64]: 8,
  [WIDE.float64]: 8,
};

/** The texts among a model's metadata, read without its tensors. Throws on a file that is no GGUF. */
export function readGgufStrings(path: string): Map<string, string> {
  const file = openSync(path, 'r');
  try {
    let position = 0;
    const take = (length: number): Buffer => {
      const bytes = Buffer.alloc(length);
      if (readSync(file, bytes, 0, length, position) < length) throw new Error(`${path} is cut off`);
      position += length;
      return bytes;
    };
    const takeUint32 = () => take(4).readUInt32LE();
    const takeUint64 = () => Number(take(8).readBigUInt64LE());
    const skip = (type: number) => {
      if (type === STRING) take(takeUint64());
      else if (type === ARRAY) {
        const items = takeUint32();
        for (let left = takeUint64(); left > 0; left--) skip(items);
      } else if (SIZES[type]) take(SIZES[type]);
      else throw new Error(`${path} has a value of the unknown type ${type}`);
    };

    if (take(4).toString('latin1') !== MAGIC) throw new Error(`${path} is no GGUF file`);
    const version = takeUint32();
    if (version !== VERSION) throw new Error(`${path} is of GGUF version ${version}, not ${VERSION}`);
    position += 8;
    const found = new Map<string, string>();
    for (let left = takeUint64(); left > 0; left--) {
      const key = take(takeUint64()).toString();
      const type = takeUint32();
      if (type === STRING) found.set(key, take(takeUint64()).toString());
      else skip(type);
    }
    return found;
  } finally {
    closeSync(file);
  }
}

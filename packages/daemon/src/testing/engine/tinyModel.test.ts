import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGgufStrings, writeGguf } from './gguf.ts';
import { TINY_MODEL, tinyModel, writeTinyModel } from './tinyModel.ts';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tiny-model-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the tiny model', () => {
  it('has the same bytes for the same seed, and others for another', () => {
    const [first, again, other] = [tinyModel(7), tinyModel(7), tinyModel(8)].map(sha256);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it('is a GGUF file of version 3 whose tensors begin at multiples of 32', () => {
    const bytes = tinyModel();
    expect(bytes.subarray(0, 4).toString()).toBe('GGUF');
    expect(bytes.readUInt32LE(4)).toBe(3);
    expect(bytes.readBigUInt64LE(8)).toBe(3n + 9n * BigInt(TINY_MODEL.layers));
    expect(bytes.length % 32).toBe(0);
    expect(bytes.length).toBeLessThan(6e6);
  });

  it('says what it is, and how a chat is written for it', async () => {
    const path = join(folder, 'model.gguf');
    await writeTinyModel(path);
    const texts = readGgufStrings(path);
    expect(texts.get('general.architecture')).toBe('llama');
    expect(texts.get('general.name')).toBe(TINY_MODEL.name);
    expect(texts.get('tokenizer.chat_template')).toContain('<|assistant|>');
  });
});

describe('GGUF', () => {
  it('is refused when a tensor has more or fewer values than its dimensions say', () => {
    const tensor = { name: 'a', dimensions: [2, 3], data: new Float32Array(5) };
    expect(() => writeGguf({}, [tensor])).toThrow('a has 5 values for 2 × 3');
  });

  it('is refused when it is cut off, of another version or something else', async () => {
    const bytes = writeGguf({ 'general.name': 'short' }, []);
    const refusal = async (content: Buffer) => {
      const path = join(folder, 'bad.gguf');
      await writeFile(path, content);
      return expect(() => readGgufStrings(path));
    };
    (await refusal(bytes)).not.toThrow();
    (await refusal(bytes.subarray(0, -1))).toThrow('is cut off');
    (await refusal(Buffer.from('{"model": "none"}'))).toThrow('is no GGUF file');
    bytes.writeUInt32LE(2, 4);
    (await refusal(bytes)).toThrow('is of GGUF version 2, not 3');
  });
});

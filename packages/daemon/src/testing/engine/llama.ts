import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readGgufStrings } from './gguf.ts';

/**
 * llama.cpp by the Node addon of `@node-llama-cpp/linux-x64`. The addon is used directly: the package around it,
 * `node-llama-cpp`, would bring a compiler's tools and builds for GPUs. What is declared here is the part of its
 * `AddonTypes` that is used; the version of the package is pinned.
 */
interface Addon {
  AddonModel: new (path: string, params: object) => AddonModel;
  AddonContext: new (model: AddonModel, params: object) => AddonContext;
  AddonSampler: new (model: AddonModel) => AddonSampler;
  AddonJinjaRenderer: new (template: string) => { render(values: object): string };
  setLogger(logger: (level: number, message: string) => void): void;
  setLoggerLogLevel(level: number): void;
  loadBackends(folder: string): void;
  init(): Promise<void>;
}
interface AddonModel {
  init(): Promise<boolean>;
  tokenize(text: string, specialTokens: boolean): Uint32Array;
  detokenize(tokens: Uint32Array, specialTokens: boolean): string;
  tokenBos(): number;
  tokenEos(): number;
  getTokenString(token: number): string;
  shouldPrependBosToken(): boolean;
  isEogToken(token: number): boolean;
  getTrainContextSize(): number;
  getEmbeddingVectorSize(): number;
  getTotalParameters(): number;
  getTotalSize(): number;
}
interface AddonContext {
  init(): Promise<boolean>;
  initBatch(size: number): void;
  addToBatch(sequence: number, first: number, tokens: Uint32Array, logitsAt: Uint32Array): Uint32Array;
  decodeBatch(): Promise<void>;
  sampleToken(logits: number, sampler: AddonSampler): Promise<number>;
  disposeSequence(sequence: number): void;
}
interface AddonSampler {
  applyConfig(config: Sampling): void;
  dispose(): void;
}

export interface Sampling {
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  seed: number;
}
export interface Message {
  role: string;
  content: string;
}
export interface Llama {
  parameters: number;
  bytes: number;
  width: number;
  trainedContext: number;
  /** Tokens that prompt and answer of one chat may have. */
  context: number;
  slots: number;
  threads: number;
  /** The tokens of a chat by the model's own template. */
  promptOf(messages: Message[]): Uint32Array;
  /**
   * One item for each token, as it is generated; its text is empty while a character is incomplete. Waits for a free
   * slot. Ends at the end of the answer, at `most` tokens or when `signal` aborts.
   */
  generate(prompt: Uint32Array, most: number, sampling: Sampling, signal: AbortSignal): AsyncGenerator<string>;
}

export interface LlamaOptions {
  model: string;
  /** Of all slots together; what the model was trained for, for each, when 0. */
  contextSize: number;
  slots: number;
  threads: number;
  log(line: string): void;
}

const BATCH = 512;
const LOG_INFO = 4;

export async function loadLlama({ model: path, log, ...options }: LlamaOptions): Promise<Llama> {
  const addon = openAddon(log);
  const template = readGgufStrings(path).get('tokenizer.chat_template');
  if (!template) throw new Error(`${path} has no chat template`);
  await addon.init();
  let shown = 0;
  const onLoadProgress = (part: number) => {
    if (part < 1 && part - shown < 0.1) return;
    shown = part;
    log(`load_model: ${Math.round(part * 100)} %`);
  };
  const model = new addon.AddonModel(path, { addonExports: addon, gpuLayers: 0, useMmap: true, onLoadProgress });
  if (!(await model.init())) throw new Error(`llama.cpp cannot load ${path}`);
  const trainedContext = model.getTrainContextSize();
  const slots = options.slots;
  const context = options.contextSize === 0 ? trainedContext : Math.floor(options.contextSize / slots);
  // Heeds the limit that a container has, where llama.cpp would count the cores of the machine.
  const threads = options.threads || availableParallelism();
  const evaluation = new addon.AddonContext(model, {
    contextSize: context * slots,
    batchSize: Math.min(BATCH, context),
    sequences: slots,
    threads,
    // On a processor it takes four times as long at the end of a long context.
    flashAttention: false,
  });
  if (!(await evaluation.init())) throw new Error('llama.cpp cannot allocate the context');
  const renderer = new addon.AddonJinjaRenderer(template);
  const free = queueOf(Array.from({ length: slots }, (_, slot) => slot));
  const oneAtATime = queueOf([evaluation]);

  /** The token after these, which stand at `first` of the sequence. */
  async function next(sequence: number, first: number, tokens: Uint32Array, sampler: AddonSampler): Promise<number> {
    let logits = 0;
    for (let at = 0; at < tokens.length; at += BATCH) {
      const part = tokens.subarray(at, at + BATCH);
      const isLast = at + BATCH >= tokens.length;
      const context = await oneAtATime.take();
      try {
        context.initBatch(part.length);
        const wanted = Uint32Array.from(isLast ? [part.length - 1] : []);
        const [index = 0] = context.addToBatch(sequence, first + at, part, wanted);
        await context.decodeBatch();
        // Before another chat's batch takes the place of these logits.
        if (isLast) logits = await context.sampleToken(index, sampler);
      } finally {
        oneAtATime.give(context);
      }
    }
    return logits;
  }

  return {
    parameters: model.getTotalParameters(),
    bytes: model.getTotalSize(),
    width: model.getEmbeddingVectorSize(),
    trainedContext,
    context,
    slots,
    threads,
    promptOf(messages) {
      const text = renderer.render({
        messages,
        add_generation_prompt: true,
        bos_token: model.getTokenString(model.tokenBos()),
        eos_token: model.getTokenString(model.tokenEos()),
      });
      const tokens = model.tokenize(text, true);
      const needsStart = model.shouldPrependBosToken() && tokens[0] !== model.tokenBos();
      return needsStart ? Uint32Array.from([model.tokenBos(), ...tokens]) : tokens;
    },
    async *generate(prompt, most, sampling, signal) {
      const sequence = await free.take(signal);
      const sampler = new addon.AddonSampler(model);
      try {
        sampler.applyConfig(sampling);
        const textOf = answerText(model);
        let position = 0;
        let tokens = prompt;
        for (let count = 0; count < most && !signal.aborted; count++) {
          const token = await next(sequence, position, tokens, sampler);
          if (token < 0) throw new Error('llama.cpp sampled no token');
          if (model.isEogToken(token)) return;
          position += tokens.length;
          tokens = Uint32Array.from([token]);
          yield textOf(token);
        }
      } finally {
        sampler.dispose();
        evaluation.disposeSequence(sequence);
        free.give(sequence);
      }
    },
  };
}

function openAddon(log: (line: string) => void): Addon {
  const root = dirname(dirname(fileURLToPath(import.meta.resolve('@node-llama-cpp/linux-x64'))));
  const folder = join(root, 'bins/linux-x64');
  if (!readdirSync(folder).includes('llama-addon.node')) throw new Error(`${folder} holds no llama-addon.node`);
  const addon = createRequire(import.meta.url)(join(folder, 'llama-addon.node')) as Addon;
  let line = '';
  addon.setLogger((_level, message) => {
    const lines = (line + message).split('\n');
    line = lines.pop()!;
    for (const whole of lines) if (whole.trim()) log(whole);
  });
  addon.setLoggerLogLevel(LOG_INFO);
  addon.loadBackends(folder);
  return addon;
}

/**
 * The text that each token adds to an answer. A token is decoded after the one before it, as the first one of a text loses
 * its space; bytes are held back until they make a character.
 */
function answerText(model: AddonModel): (token: number) => string {
  const decode = (tokens: number[]) => model.detokenize(Uint32Array.from(tokens), false);
  let shown: number[] = [];
  let held: number[] = [];
  return (token) => {
    held.push(token);
    const text = decode([...shown, ...held]).slice(shown.length === 0 ? 0 : decode(shown).length);
    if (text.endsWith('\ufffd') && held.length < 4) return '';
    shown = held;
    held = [];
    return text;
  };
}

/** Things that are used by one at a time; who comes first gets the next free one. */
function queueOf<T>(things: T[]) {
  const waiting: ((thing: T) => void)[] = [];
  return {
    async take(signal?: AbortSignal): Promise<T> {
      const thing = things.shift();
      if (thing !== undefined) return thing;
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      const receive = (given: T) => {
        signal?.removeEventListener('abort', leave);
        resolve(given);
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(receive), 1);
        reject(signal?.reason);
      };
      waiting.push(receive);
      signal?.addEventListener('abort', leave, { once: true });
      return promise;
    },
    give(thing: T): void {
      const first = waiting.shift();
      if (first) first(thing);
      else things.push(thing);
    },
  };
}

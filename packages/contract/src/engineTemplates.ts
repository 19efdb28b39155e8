import type { CatalogueModel } from '@stagi/perf/catalogue.ts';
import type { Engine } from '@stagi/perf/engines.ts';
import type { PublishedFile } from '@stagi/perf/quality.ts';
import { text } from './text.ts';

type Task = CatalogueModel['task'];

/** An engine that serves a model: a container form filled in. */
export interface EngineTemplate {
  name: EngineTemplateName;
  title: string;
  description: string;
  /** The documentation of its image and its options. */
  source: string;
  /** On servers with a GPU, and on those without one; null: it needs a GPU. */
  image: { gpu: string; cpu: string | null };
  /** As daemons report it; null: any. */
  arch: string | null;
  formats: readonly PublishedFile['format'][];
  tasks: readonly Task[];
  /** Its name in the formulas; null: its speed is not predicted. */
  perf: Engine | null;
  /** With `{repository}`, `{variant}`, `{context}` and `{gpus}`; null: that of the image. */
  command: string | null;
  /** Variables of the container, with the same places. */
  env: Readonly<Record<string, string>>;
  /** The variable that takes a token of the hub, for weights behind a licence; null: it takes none. */
  tokenVariable: string | null;
  /** The variable that sets the key of its API; null: its API has no key. */
  keyVariable: string | null;
  /** Inside the container. */
  port: number;
  /** Answers 200 once the engine serves. */
  healthPath: string;
  /** Where it keeps downloaded weights, which stay on the server. */
  cachePath: string;
  /** A request that makes it fetch its model, where it does not do so by itself; with the same places. */
  load: { path: string; body: Readonly<Record<string, string>> } | null;
  /** What the engine calls its model in requests, with the same places. */
  modelName: string;
}

export const ENGINE_TEMPLATE_NAMES = ['vllm', 'sglang', 'llama.cpp', 'ollama', 'whisper'] as const;
export type EngineTemplateName = (typeof ENGINE_TEMPLATE_NAMES)[number];

const LANGUAGE: readonly Task[] = ['text-generation', 'reasoning', 'code', 'vision-language'];

/** Images have fixed tags, so that what is started tomorrow is what was started today. */
export const ENGINE_TEMPLATES: readonly EngineTemplate[] = [
  {
    name: 'vllm',
    title: 'vLLM',
    description: text('Serves many requests at once on GPUs. Reads weights as their publisher released them.'),
    source: 'https://docs.vllm.ai/en/stable/deployment/docker/',
    image: { gpu: 'vllm/vllm-openai:v0.11.0', cpu: null },
    arch: 'x64',
    formats: ['safetensors'],
    tasks: [...LANGUAGE, 'embedding', 'reranker', 'speech-to-text'],
    perf: 'vllm',
    command: '--model {repository} --max-model-len {context} --tensor-parallel-size {gpus}',
    env: {},
    tokenVariable: 'HF_TOKEN',
    keyVariable: 'VLLM_API_KEY',
    port: 8000,
    healthPath: '/health',
    cachePath: '/root/.cache/huggingface',
    load: null,
    modelName: '{repository}',
  },
  {
    name: 'sglang',
    title: 'SGLang',
    description: text('Serves many requests at once on GPUs, with prompts that begin alike computed once.'),
    source: 'https://docs.sglang.ai/get_started/install.html',
    image: { gpu: 'lmsysorg/sglang:v0.5.3-cu129', cpu: null },
    arch: 'x64',
    formats: ['safetensors'],
    tasks: LANGUAGE,
    perf: 'sglang',
    // Its key is an option alone, which the list of processes would show. As `python3 -m`, with the variable's value added.
    command: `python3 -c "import os, runpy, sys; sys.argv += ['--api-key', os.environ['SGLANG_API_KEY']]; runpy.run_module('sglang.launch_server', run_name='__main__', alter_sys=True)" --model-path {repository} --context-length {context} --tp {gpus} --host 0.0.0.0 --port 30000`,
    env: {},
    tokenVariable: 'HF_TOKEN',
    keyVariable: 'SGLANG_API_KEY',
    port: 30000,
    healthPath: '/health',
    cachePath: '/root/.cache/huggingface',
    load: null,
    modelName: '{repository}',
  },
  {
    name: 'llama.cpp',
    title: 'llama.cpp',
    description: text('Serves GGUF files, on a GPU or on CPUs alone.'),
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/docs/docker.md',
    image: { gpu: 'ghcr.io/ggml-org/llama.cpp:server-cuda-b6700', cpu: 'ghcr.io/ggml-org/llama.cpp:server-b6700' },
    arch: null,
    formats: ['gguf'],
    tasks: LANGUAGE,
    perf: 'llama.cpp',
    command: '-hf {repository}:{variant} -c {context} -ngl 999 --host 0.0.0.0 --port 8080',
    env: {},
    tokenVariable: 'HF_TOKEN',
    keyVariable: 'LLAMA_API_KEY',
    port: 8080,
    healthPath: '/health',
    cachePath: '/root/.cache/llama.cpp',
    load: null,
    modelName: '{repository}',
  },
  {
    name: 'ollama',
    title: 'Ollama',
    description: text('Serves GGUF files, on a GPU or on CPUs alone. Its API has no key: keep its port private.'),
    source: 'https://docs.ollama.com/docker',
    image: { gpu: 'ollama/ollama:0.11.10', cpu: 'ollama/ollama:0.11.10' },
    arch: null,
    formats: ['gguf'],
    tasks: LANGUAGE,
    perf: null,
    command: null,
    env: { OLLAMA_CONTEXT_LENGTH: '{context}' },
    tokenVariable: null,
    keyVariable: null,
    port: 11434,
    healthPath: '/api/version',
    cachePath: '/root/.ollama',
    load: { path: '/api/pull', body: { model: 'hf.co/{repository}:{variant}' } },
    modelName: 'hf.co/{repository}:{variant}',
  },
  {
    name: 'whisper',
    title: text('Whisper server'),
    description: text('Turns speech into text with the API of OpenAI, on a GPU or on CPUs alone.'),
    source: 'https://github.com/fedirz/faster-whisper-server',
    image: {
      gpu: 'fedirz/faster-whisper-server:0.6.0-rc.3-cuda',
      cpu: 'fedirz/faster-whisper-server:0.6.0-rc.3-cpu',
    },
    arch: 'x64',
    formats: ['safetensors'],
    tasks: ['speech-to-text'],
    perf: null,
    command: null,
    env: { WHISPER__MODEL: '{repository}' },
    tokenVariable: 'HF_TOKEN',
    keyVariable: 'API_KEY',
    port: 8000,
    healthPath: '/health',
    cachePath: '/root/.cache/huggingface',
    load: null,
    modelName: '{repository}',
  },
];

export const engineTemplate = (name: EngineTemplateName): EngineTemplate =>
  ENGINE_TEMPLATES.find((template) => template.name === name)!;

/** The repositories that the Whisper server can read: its engine has a format of its own. */
const FOR_WHISPER = /^Systran\/faster-whisper-/;

/** Whether an engine serves this file of a model. */
export const serves = ({ name, formats, tasks }: EngineTemplate, task: Task, file: PublishedFile): boolean =>
  tasks.includes(task) && formats.includes(file.format) && FOR_WHISPER.test(file.repository) === (name === 'whisper');

export interface Served {
  repository: string;
  variant: string | null;
  context: number | null;
  gpus: number;
}

/** A text of a template with its places filled in. An option whose place has no value is left out. */
export function fillIn(template: string, { repository, variant, context, gpus }: Served): string {
  const values = {
    repository,
    variant: variant ?? '',
    context: context?.toString() ?? '',
    gpus: String(Math.max(1, gpus)),
  };
  return template
    .replace(/ (--?[\w-]+) \{(\w+)\}/g, (whole, _option, place: keyof typeof values) => (values[place] ? whole : ''))
    .replace(/\{(\w+)\}/g, (_, place: keyof typeof values) => values[place]);
}

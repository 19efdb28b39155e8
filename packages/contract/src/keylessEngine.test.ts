import { expect, it } from 'vitest';
import { ENGINE_TEMPLATES, fillIn } from './engineTemplates.ts';
import { keylessEngine, withoutKey } from './keylessEngine.ts';

const launched = (dockerImage: string, command = '', variables: string[] = []) => ({
  dockerImage,
  command,
  variables,
});

it.each([
  ['Ollama', 11434, launched('ollama/ollama:0.11.10'), { title: 'Ollama', remedy: null }],
  ['Ollama by its whole name', 11434, launched('docker.io/ollama/ollama'), { title: 'Ollama', remedy: null }],
  ['Ollama with a variable', 11434, launched('ollama/ollama', '', ['API_KEY']), { title: 'Ollama', remedy: null }],
  ['another port of Ollama’s', 22, launched('ollama/ollama'), null],
  ['vLLM', 8000, launched('vllm/vllm-openai:latest'), { title: 'vLLM', remedy: 'VLLM_API_KEY' }],
  ['vLLM with a key', 8000, launched('vllm/vllm-openai', '', ['VLLM_API_KEY']), null],
  ['vLLM with the option', 8000, launched('vllm/vllm-openai', '--model x --api-key abc'), null],
  [
    'vLLM at a port of its command',
    9000,
    launched('vllm/vllm-openai', '--port 9000'),
    { title: 'vLLM', remedy: 'VLLM_API_KEY' },
  ],
  ['llama.cpp', 8080, launched('ghcr.io/ggml-org/llama.cpp:server'), { title: 'llama.cpp', remedy: 'LLAMA_API_KEY' }],
  [
    'SGLang with the variable alone',
    30000,
    launched('lmsysorg/sglang:v1', '', ['SGLANG_API_KEY']),
    { title: 'SGLang', remedy: '--api-key' },
  ],
  ['an image of the same last name', 11434, launched('evil/ollama'), null],
  ['no engine', 8000, launched('python:3.13'), null],
  ['an image that is still typed', 8000, launched(''), null],
] as const)('knows which engine serves without a key: %s', (_, port, container, found) => {
  expect(keylessEngine(port, container)).toEqual(found);
});

it('finds a key in what every template deploys that has one', () => {
  const found = ENGINE_TEMPLATES.filter(({ keyVariable, command, ...template }) => {
    const filled = command && fillIn(command, { repository: 'a/b', variant: 'Q4', context: 1, gpus: 1 });
    return withoutKey(
      { ...template, command, keyVariable },
      { command: filled, variables: keyVariable ? [keyVariable] : [] },
    );
  });
  expect(found.map(({ name }) => name)).toEqual(['ollama']);
});

import type { PlatformTemplate } from './containerTemplates.ts';
import { text } from './text.ts';

const PRIVATE = 'private' as const;

/**
 * The templates of the platform. Images have fixed tags, so that what is started tomorrow is what was started today.
 * Volumes lie below `/data`, where both kinds of servers allow them; the images run as root, or take the directory over,
 * since the directory of a new volume belongs to root. What opens a web page asks for a password of its own.
 */
export const PLATFORM_TEMPLATES: readonly PlatformTemplate[] = [
  {
    name: 'pytorch-jupyter',
    title: text('PyTorch + Jupyter'),
    description: text(
      'Notebooks with PyTorch and CUDA. JupyterLab is installed at the start; its password is JUPYTER_TOKEN.',
    ),
    source: 'https://github.com/pytorch/pytorch#docker-image',
    needs: { gpu: true, cpus: 2, memoryGb: 8, arch: 'x64' },
    fields: {
      dockerImage: 'pytorch/pytorch:2.7.0-cuda12.6-cudnn9-runtime',
      command:
        'sh -c "pip install --no-cache-dir jupyterlab==4.4.1 && exec jupyter lab --ip=0.0.0.0 --port=8888 --no-browser --allow-root --ServerApp.root_dir=/workspace"',
      env: [{ name: 'JUPYTER_TOKEN', value: null }],
      cpus: 2,
      memoryGb: null,
      gpuCount: 1,
      portMappings: [{ host: 8888, container: 8888, visibility: PRIVATE }],
      directoryMappings: [{ host: '/data/jupyter', container: '/workspace' }],
      restartPolicy: 'unless-stopped',
    },
  },
  {
    name: 'vllm',
    title: 'vLLM',
    description: text(
      'Serves a language model with the API of OpenAI. The model is that of the command; VLLM_API_KEY protects it.',
    ),
    source: 'https://docs.vllm.ai/en/stable/deployment/docker/',
    needs: { gpu: true, cpus: 2, memoryGb: 8, arch: 'x64' },
    fields: {
      dockerImage: 'vllm/vllm-openai:v0.11.0',
      command: '--model Qwen/Qwen3-0.6B',
      env: [{ name: 'VLLM_API_KEY', value: null }],
      cpus: 2,
      memoryGb: null,
      gpuCount: 1,
      portMappings: [{ host: 8000, container: 8000, visibility: PRIVATE }],
      directoryMappings: [{ host: '/data/huggingface', container: '/root/.cache/huggingface' }],
      restartPolicy: 'unless-stopped',
    },
  },
  {
    name: 'ollama',
    title: 'Ollama',
    description: text('Runs open models, on a GPU or on CPUs alone. Its API has no password: keep the port private.'),
    source: 'https://docs.ollama.com/docker',
    needs: { gpu: false, cpus: 2, memoryGb: 4, arch: null },
    fields: {
      dockerImage: 'ollama/ollama:0.11.10',
      command: null,
      env: [],
      cpus: 2,
      memoryGb: null,
      gpuCount: 0,
      portMappings: [{ host: 9434, container: 11434, visibility: PRIVATE }],
      directoryMappings: [{ host: '/data/ollama', container: '/root/.ollama' }],
      restartPolicy: 'unless-stopped',
    },
  },
  {
    name: 'code-server',
    title: text('VS Code Server'),
    description: text('Visual Studio Code in the browser, behind PASSWORD. Files are kept in a volume.'),
    source: 'https://docs.linuxserver.io/images/docker-code-server/',
    needs: { gpu: false, cpus: 1, memoryGb: 1, arch: null },
    fields: {
      dockerImage: 'lscr.io/linuxserver/code-server:4.106.2',
      command: null,
      env: [
        { name: 'PASSWORD', value: null },
        { name: 'PUID', value: '1000' },
        { name: 'PGID', value: '1000' },
        { name: 'DEFAULT_WORKSPACE', value: '/config/workspace' },
      ],
      cpus: 1,
      memoryGb: null,
      gpuCount: 0,
      portMappings: [{ host: 8443, container: 8443, visibility: PRIVATE }],
      directoryMappings: [{ host: '/data/code-server', container: '/config' }],
      restartPolicy: 'unless-stopped',
    },
  },
  {
    name: 'ubuntu',
    title: 'Ubuntu',
    description: text('A bare Ubuntu that stays up, to be used by its terminal. Files in /work are kept in a volume.'),
    source: 'https://hub.docker.com/_/ubuntu',
    needs: { gpu: false, cpus: 1, memoryGb: 1, arch: null },
    fields: {
      dockerImage: 'ubuntu:24.04',
      command: 'sleep infinity',
      env: [],
      cpus: 1,
      memoryGb: null,
      gpuCount: 0,
      portMappings: [],
      directoryMappings: [{ host: '/data/work', container: '/work' }],
      restartPolicy: 'unless-stopped',
    },
  },
];

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export interface ServerOptions {
  model: string;
  host: string;
  port: number;
  /** Of all slots together; what the model was trained for, for each, when 0. */
  contextSize: number;
  slots: number;
  threads: number;
  alias: string | undefined;
  apiKey: string | undefined;
}

const OPTIONS = {
  model: { type: 'string', short: 'm' },
  'hf-repo': { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
  'ctx-size': { type: 'string', short: 'c' },
  parallel: { type: 'string' },
  threads: { type: 'string', short: 't' },
  alias: { type: 'string', short: 'a' },
  'api-key': { type: 'string' },
  // Common in commands for llama-server, and without an effect here.
  'n-gpu-layers': { type: 'string' },
  'flash-attn': { type: 'string' },
  jinja: { type: 'boolean' },
  'no-webui': { type: 'boolean' },
} as const;

/** Short names that are longer than a letter. */
const SHORT: Record<string, string> = {
  '-hf': '--hf-repo',
  '-np': '--parallel',
  '-ngl': '--n-gpu-layers',
  '-fa': '--flash-attn',
};

/** llama-server's options and environment variables; an option wins. Calls `stop` with what is wrong. */
export function readOptions(
  args: string[],
  env: Record<string, string | undefined>,
  stop: (reason: string) => never,
): ServerOptions {
  try {
    const { values } = parseArgs({ args: args.map((arg) => SHORT[arg] ?? arg), options: OPTIONS });
    const count = (name: 'port' | 'ctx-size' | 'parallel' | 'threads', variable: string, otherwise: number) => {
      const value = Number(values[name] ?? env[variable] ?? otherwise);
      if (!Number.isInteger(value) || value < 0) throw new Error(`--${name} must be a whole number`);
      return value;
    };
    const repository = values['hf-repo'] ?? env.LLAMA_ARG_HF_REPO;
    const model = values.model ?? (repository ? fileOf(repository, env) : env.LLAMA_ARG_MODEL);
    if (!model) throw new Error('a model is needed: -m FILE');
    return {
      model,
      host: values.host ?? env.LLAMA_ARG_HOST ?? '127.0.0.1',
      port: count('port', 'LLAMA_ARG_PORT', 8080),
      contextSize: count('ctx-size', 'LLAMA_ARG_CTX_SIZE', 0),
      slots: Math.max(1, count('parallel', 'LLAMA_ARG_N_PARALLEL', 4)),
      threads: count('threads', 'LLAMA_ARG_THREADS', 0),
      alias: values.alias ?? env.LLAMA_ARG_ALIAS,
      apiKey: values['api-key'] || env.LLAMA_API_KEY || env.API_KEY,
    };
  } catch (error) {
    return stop((error as Error).message);
  }
}

/** What llama-server would download, `owner/name-GGUF:quality`, is taken from the folder of models. */
function fileOf(repository: string, env: Record<string, string | undefined>): string {
  const name = /^[^/:]+\/([^/:]+?)(-GGUF)?(:[^/:]+)?$/.exec(repository)?.[1];
  if (!name) throw new Error(`${repository} is no repository: owner/name`);
  const path = join(env.LLAMA_CACHE ?? '/models', `${name}.gguf`);
  if (!existsSync(path)) throw new Error(`${repository} is not here, and this server downloads nothing`);
  return path;
}

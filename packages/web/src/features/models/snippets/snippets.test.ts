import { execFileSync } from 'node:child_process';
import { MODEL_TASKS } from '@stagi/perf/catalogue.ts';
import { parseSync } from '@swc/core';
import { describe, expect, it } from 'vitest';
import { type Endpoint, type Snippet, snippets } from './snippets.ts';

const endpoints: Endpoint[] = [
  { url: 'https://server.example:30001', model: 'meta-llama/Llama-3.1-8B-Instruct', hasKey: true },
  { url: 'http://10.0.0.5:8000', model: 'hf.co/lmstudio-community/Some.Model_v0.3-GGUF:Q4_K_M', hasKey: false },
  { url: 'https://llama-8000.apps.example', model: 'Qwen/Qwen3-0.6B', hasKey: true, isPrivate: true },
];
const withApi = MODEL_TASKS.filter((task) => snippets(task, endpoints[0]!));
const cases = withApi.flatMap((task) => endpoints.map((endpoint) => ({ task, endpoint })));
const codeOf = (key: Snippet['key'], { task, endpoint }: (typeof cases)[number]) =>
  snippets(task, endpoint)!.find((snippet) => snippet.key === key)!.code;

/** The arguments that a shell gives to curl. */
function curlArguments(code: string): string[] {
  const script = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }\n${code}`;
  return execFileSync('sh', ['-euc', script], {
    encoding: 'utf8',
    env: { ...process.env, API_KEY: 'k-1', STAGI_TOKEN: 't-1' },
  })
    .split('\0')
    .slice(0, -1);
}

/** Brackets and quotes that close in the order in which they open. */
function isBalanced(code: string): boolean {
  const closing: Record<string, string> = { '(': ')', '[': ']', '{': '}' };
  const open: string[] = [];
  for (const sign of code.replace(/"[^"\n]*"/g, '')) {
    if (closing[sign]) open.push(closing[sign]);
    else if (')]}'.includes(sign) && open.pop() !== sign) return false;
    else if (sign === '"') return false;
  }
  return open.length === 0;
}

describe('snippets for a deployed model', () => {
  it('exist for the tasks whose engines share an API', () => {
    expect(withApi).toEqual(['text-generation', 'reasoning', 'code', 'vision-language', 'embedding', 'speech-to-text']);
  });

  it.each(cases)('curl: a shell passes it on as meant ($task, $endpoint.url)', (one) => {
    const given = curlArguments(codeOf('curl', one));
    const { url, model, hasKey } = one.endpoint;
    expect(given[0]).toMatch(`${url}/v1/`);
    expect(given.includes('Authorization: Bearer k-1')).toBe(hasKey);
    expect(given.includes('X-Stagi-Token: t-1')).toBe(one.endpoint.isPrivate === true);
    const body = given[given.indexOf('-d') + 1];
    if (given.includes('-d')) expect(JSON.parse(body!)).toMatchObject({ model });
    else expect(given).toContain(`model=${model}`);
  });

  it.each(cases)('JavaScript: a module without syntax errors ($task, $endpoint.url)', (one) => {
    const code = codeOf('javascript', one);
    expect(parseSync(code, { syntax: 'ecmascript', target: 'esnext' }).body.length).toBeGreaterThan(2);
    expect(code).toContain(`'${one.endpoint.model}'`);
    expect(code.includes('process.env.API_KEY')).toBe(one.endpoint.hasKey);
  });

  it.each(cases)('Python: closed brackets, and what it names is imported ($task, $endpoint.url)', (one) => {
    const code = codeOf('python', one);
    expect(isBalanced(code)).toBe(true);
    expect(code).toContain(`"${one.endpoint.model}"`);
    expect(/\bos\./.test(code)).toBe(code.startsWith('import os\n'));
    expect(code.split('\n').every((line) => /^(?: {4})*\S|^$/.test(line))).toBe(true);
  });

  it('say the address and the model of the endpoint, and nothing of another', () => {
    const [first, second] = endpoints.map((endpoint) => JSON.stringify(snippets('code', endpoint)));
    expect(first).not.toContain('10.0.0.5');
    expect(second).not.toContain('server.example');
  });
});

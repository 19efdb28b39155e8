import { API_PREFIX, type Call, needsIdempotencyKey } from '@stagi/contract/call.ts';
import { exampleInput } from './exampleInput.ts';

/** Member calls of a session say which workspace is meant; a token belongs to one. */
const needsWorkspace = (call: Call): boolean => call.auth !== 'public' && call.auth !== 'signed-in' && !call.byToken;
const tokenName = (call: Call): string => (call.byToken ? 'STAGI_TOKEN' : 'STAGI_ACCESS_TOKEN');

export function curlExample(domain: string, name: string, call: Call): string {
  const lines = [`curl -sS "$STAGI_URL${API_PREFIX}${call.path}"`];
  if (call.auth !== 'public') lines.push(`-H "Authorization: Bearer $${tokenName(call)}"`);
  if (needsWorkspace(call)) lines.push('-H "X-Client-ID: $STAGI_WORKSPACE"');
  if (needsIdempotencyKey(call.path)) lines.push('-H "Idempotency-Key: $(uuidgen)"');
  lines.push("-H 'Content-Type: application/json'");
  const body = JSON.stringify(exampleInput(domain, name, call), null, 2).replaceAll("'", "'\\''");
  return `${lines.join(' \\\n  ')} \\\n  -d '${body.replaceAll('\n', '\n  ')}'`;
}

export function typescriptExample(domain: string, name: string, call: Call): string {
  const headers = [`'Content-Type': 'application/json',`];
  if (call.auth !== 'public') headers.push(`Authorization: \`Bearer \${process.env.${tokenName(call)}}\`,`);
  if (needsWorkspace(call)) headers.push(`'X-Client-ID': String(process.env.STAGI_WORKSPACE),`);
  if (needsIdempotencyKey(call.path)) headers.push(`'Idempotency-Key': randomUUID(),`);
  const body = asTypescript(exampleInput(domain, name, call)).replaceAll('\n', '\n  ');
  return [
    ...(needsIdempotencyKey(call.path) ? [`import { randomUUID } from 'node:crypto';`, ''] : []),
    `const response = await fetch(\`\${process.env.STAGI_URL}${API_PREFIX}${call.path}\`, {`,
    `  method: 'POST',`,
    '  headers: {',
    ...headers.map((header) => `    ${header}`),
    '  },',
    `  body: JSON.stringify(${body}),`,
    '});',
    ...(call.streamed
      ? ['for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) process.stdout.write(chunk);']
      : ['const answer = await response.json();', 'if (!answer.isSuccess) throw new Error(answer.message);']),
  ].join('\n');
}

/** JSON with names and strings as TypeScript is usually written. */
function asTypescript(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replace(/^(\s*)"([A-Za-z_$][\w$]*)":/gm, '$1$2:')
    .replace(/"((?:[^"\\\n']|\\")*)"/g, (_, text: string) => `'${text.replaceAll('\\"', '"')}'`);
}

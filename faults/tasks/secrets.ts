import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { taskToken } from '@stagi/server/src/containers/taskToken.ts';
import { openS3Key } from '@stagi/server/src/objects/keys.ts';
import { createSecretBox, loadSecretKey } from '@stagi/server/src/secrets/secretBox.ts';
import type { TaskBed } from './bed.ts';

/** What must not be found, by name: texts as they are, and what secrets of a kind look like. */
export interface Secrets {
  texts: Map<string, string>;
  patterns: Map<string, RegExp>;
}

/** Where something is looked for. */
export interface Place {
  name: string;
  bytes: Buffer;
}

const PATTERNS = new Map([
  ['a token of a run', /stt_\d+_[\w-]{20}/],
  ['an API token', /stg_\d+_\w{20}/],
  ['the signature of a link', /X-Amz-(?:Signature|Credential)/i],
  ['an access key', /STG[A-Z2-7]{17}/],
  ['a JWT', /eyJ[\w-]{15,}\.eyJ[\w-]{15,}\./],
  ['a private key', /BEGIN (?:[A-Z]+ )?PRIVATE KEY/],
]);

/** Every secret of the platform that has to do with a run: of the run, its server, its project and its maker. */
export async function secretsOf(bed: TaskBed, runId: number): Promise<Secrets> {
  const { platform, pool, person, servers, apiToken } = bed;
  const key = loadSecretKey(null, platform.dataDir);
  const secrets = createSecretBox(key);
  const texts = new Map([
    ['the token of the run', taskToken({ secrets }, runId)],
    ['the API token of its maker', apiToken],
    ['the access token of its maker', person.tokens().accessToken],
    ['the refresh token of its maker', person.tokens().refreshToken],
    ['the key of the platform', key.toString('base64')],
  ]);
  for (const row of await pool.db
    .selectFrom('s3_key')
    .select(['access_key_id', 'secret_sealed', 'purpose'])
    .execute()) {
    const { accessKeyId, secretAccessKey } = openS3Key({ secrets }, row);
    texts.set(`the id of the ${row.purpose} key ${accessKeyId}`, accessKeyId);
    texts.set(`the secret of the ${row.purpose} key ${accessKeyId}`, secretAccessKey);
  }
  for (const { daemon } of servers) {
    const folder = daemon.env.STAGI_CONFIG_DIR!;
    for (const file of readdirSync(folder).filter((name) => name.startsWith('node.key'))) {
      const [, body = ''] = readFileSync(join(folder, file), 'utf8').split('\n');
      texts.set(`the daemon's ${file}`, body);
    }
  }
  for (const [name, text] of texts) if (text.length < 16) throw new Error(`${name} is too short to look for`);
  return { texts, patterns: PATTERNS };
}

/** Which secrets lie in which places, as they are, in base64 or in hexadecimal. */
export function findSecrets({ texts, patterns }: Secrets, places: readonly Place[]): string[] {
  const found: string[] = [];
  for (const { name: place, bytes } of places) {
    for (const [name, text] of texts) {
      for (const [form, needle] of formsOf(text))
        if (bytes.includes(needle)) found.push(`${name} (${form}) in ${place}`);
    }
    // One byte is one character: no sequence of bytes is skipped.
    const whole = bytes.toString('latin1');
    for (const [name, pattern] of patterns) if (pattern.test(whole)) found.push(`${name} in ${place}`);
  }
  return found;
}

/** In base64 a text looks different by the place at which it begins in what was encoded; what surrounds it is left out. */
function formsOf(text: string): [string, string][] {
  const shifted = [0, 1, 2].map((shift): [string, string] => {
    const encoded = Buffer.from(' '.repeat(shift) + text)
      .toString('base64')
      .replace(/=*$/, '');
    return [`base64+${shift}`, encoded.slice(shift === 0 ? 0 : shift + 1, -1)];
  });
  return [['as it is', text], ['hexadecimal', Buffer.from(text).toString('hex')], ...shifted];
}

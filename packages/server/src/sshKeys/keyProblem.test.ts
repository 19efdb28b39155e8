import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/app.ts';
import type { Person } from '../testing/person.ts';

let app: TestApp;
let ada: Person;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stagi-keys-'));
  app = await startTestApp({}, { role: 'api' });
  ada = await app.signUp('Ada');
});
afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

let made = 0;
/** Made by OpenSSH. */
function pair(type = 'ed25519', ...options: string[]): { publicKey: string; privateKey: string; file: string } {
  made += 1;
  const file = join(folder, `id-${made}`);
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', 'me@home', '-f', file, ...options]);
  return { file, publicKey: readFileSync(`${file}.pub`, 'utf8').trim(), privateKey: readFileSync(file, 'utf8') };
}
const converted = (...args: string[]): string => execFileSync('ssh-keygen', args, { encoding: 'utf8' });
const refusalOf = async (publicKey: string): Promise<string> => {
  const error = await ada.client(api.sshKeys.add, { title: 'laptop', publicKey }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CallError);
  const { status, body, message } = error as CallError;
  expect([status, body?.fieldsWithError]).toEqual([400, ['publicKey']]);
  return message;
};
const wrapped = (line: string, columns: number): string => line.replace(new RegExp(`(.{${columns}})`, 'g'), '$1\n');
const wire = (...fields: (string | Buffer)[]): string =>
  Buffer.concat(
    fields.flatMap((field) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(field as string));
      return [length, Buffer.from(field as string)];
    }),
  ).toString('base64');

it('says of each text that is no public key what it is and what to do', async () => {
  const { publicKey, privateKey, file } = pair();
  const [type, base64] = publicKey.split(' ') as [string, string];
  const rsa = pair('rsa', '-b', '1024');
  const spki = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const certificate = () => {
    execFileSync('ssh-keygen', ['-q', '-s', pair().file, '-I', 'x', `${file}.pub`]);
    return readFileSync(`${file}-cert.pub`, 'utf8');
  };
  const ppk = `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPublic-Lines: 2\n${base64}\nPrivate-Lines: 1\nAAAA\n`;
  const CASES: [what: string, pasted: string, message: RegExp][] = [
    ['RFC 4716', converted('-e', '-f', `${file}.pub`), /RFC 4716.*ssh-keygen -i -f key\.pub$/],
    ['a private key', privateKey, /^This is a private key\. It was not kept\./],
    ['a private key on one line', privateKey.replaceAll('\n', ' '), /^This is a private key\./],
    ['a private key without its first line', privateKey.split('\n').slice(1).join('\n'), /^This is a private key\./],
    ['a private key after its public one', `${publicKey}\n${privateKey}`, /^This is a private key\./],
    [
      'PKCS 8',
      generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      /^This is a private key\./,
    ],
    [
      'a private JWK',
      JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })),
      /^This is a private key\./,
    ],
    ['PuTTY', ppk, /\(\.ppk\).*not kept.*PuTTYgen/],
    ['PEM', spki, /PEM format.*-m PKCS8/],
    ['PEM of RSA', converted('-e', '-m', 'PEM', '-f', `${rsa.file}.pub`), /PEM format.*-m PEM/],
    ['PGP', '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDME\n', /PGP key/],
    ['known_hosts', `git.example.com,192.0.2.1 ${type} ${base64}`, /known_hosts/],
    ['known_hosts, hashed', `|1|F1E1KeoE=|wt1rSQ= ${type} ${base64}`, /known_hosts/],
    ['known_hosts with a port', `[git.example.com]:4422 ${type} ${base64}`, /known_hosts/],
    ['options of authorized_keys', `command="sh -c 'x'",no-pty ${publicKey}`, /something before the key/],
    ['a word before it', `key: ${publicKey}`, /something before the key/],
    ['DSA', `ssh-dss ${wire('ssh-dss', Buffer.alloc(128, 3), Buffer.alloc(20, 3))}`, /DSA.*ssh-keygen -t ed25519$/],
    ['RSA of 1024 bits', rsa.publicKey, /has 1024 bits.*ssh-keygen -t ed25519$/],
    ['a type of the future', `ssh-ed448 ${wire('ssh-ed448', Buffer.alloc(57, 1))}`, /type ssh-ed448 are not accepted/],
    ['a certificate', certificate(), /SSH certificate/],
    ['a key that is cut off', publicKey.slice(0, 60), /cut off/],
    ['a key without its type', `${base64} me@home`, /type of the key is missing/],
    ['a fingerprint', converted('-l', '-f', `${file}.pub`), /fingerprint/],
    ['an old fingerprint', converted('-l', '-E', 'md5', '-f', `${file}.pub`), /fingerprint/],
    ['a file', '~/.ssh/id_ed25519.pub', /name of a file/],
    ['a file of Windows', 'C:\\Users\\Ada\\.ssh\\id_rsa.pub', /name of a file/],
    ['two keys', `${publicKey}\n${pair().publicKey}`, /several keys/],
    ['a key and a line more', `${publicKey}\nthanks!`, /more than one line/],
    ['nothing of the kind', 'hello', /^Invalid SSH key$/],
  ];
  for (const [what, pasted, message] of CASES)
    expect([what, await refusalOf(pasted)]).toEqual([what, expect.stringMatching(message)]);
  expect((await ada.client(api.sshKeys.list, { entityFilterRequest: {} })).totalCount).toBe(0);
  console.log(`texts that are no public key: n = ${CASES.length}`);
});

it('takes a key that was wrapped or quoted, where nothing else can have been meant', async () => {
  const MENDED: [string, (line: string) => string][] = [
    ['wrapped at 44', (line) => wrapped(line, 44)],
    ['wrapped at 76, Windows', (line) => wrapped(line, 76).replaceAll('\n', '\r\n')],
    ['wrapped after its type', (line) => line.replace(' ', '\n')],
    ['wrapped and indented', (line) => wrapped(line.split(' ').slice(0, 2).join(' '), 30).replaceAll('\n', '\n    ')],
    ['in quotes', (line) => `"${line}"`],
    ['in typographic quotes', (line) => `“${line}”`],
    ['in backticks', (line) => `\`${line}\``],
    ['after a byte order mark', (line) => `\ufeff${line}\r\n`],
  ];
  for (const [what, change] of MENDED) {
    const { publicKey, file } = pair(...(what.includes('76') ? ['rsa', '-b', '3072'] : []));
    const { entity } = await ada.client(api.sshKeys.add, { title: what, publicKey: change(publicKey) });
    expect([what, entity.fingerprint]).toEqual([what, converted('-l', '-f', `${file}.pub`).split(' ')[1]]);
    expect(entity.publicKey.startsWith(publicKey.split(' ').slice(0, 2).join(' '))).toBe(true);
  }
  console.log(`keys that were mended: n = ${MENDED.length}`);
});

it('keeps a private key in no row', async () => {
  const { privateKey } = pair();
  const secret = privateKey.split('\n')[2]!;
  expect(await refusalOf(privateKey)).not.toContain(secret);
  const { rows: tables } = await sql<{ name: string }>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(app.ctx.db);
  expect(tables.length).toBeGreaterThan(20);
  for (const { name } of tables) {
    const { rows } = await sql`select 1 from ${sql.raw(name)} t where position(${secret} in t::text) > 0`.execute(
      app.ctx.db,
    );
    expect([name, rows.length]).toEqual([name, 0]);
  }
});

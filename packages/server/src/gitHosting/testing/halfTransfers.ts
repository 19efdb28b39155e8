import { once } from 'node:events';
import ssh2 from 'ssh2';
import type { Service } from '../gitService.ts';

/** A line of git's protocol (gitprotocol-common(5)). */
export const packetLine = (text: string): string => (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;

/** Asks for all of a commit. */
export const wantOf = (sha: string): string =>
  `${packetLine(`want ${sha} side-band-64k ofs-delta\n`)}0000${packetLine('done\n')}`;

/** A push of a new branch, up to the beginning of the first object. */
export const beginningOfPush = (sha: string): Buffer => {
  const command = packetLine(`${'0'.repeat(40)} ${sha} refs/heads/new\0report-status side-band-64k`);
  return Buffer.concat([Buffer.from(`${command}0000PACK\0\0\0\x02\0\0\0\x01`, 'latin1'), Buffer.from([0xb5, 0x01])]);
};

/** One chunk of a body of unknown length. */
export const chunkOf = (bytes: string | Buffer): Buffer => {
  const data = Buffer.from(bytes as string, 'latin1');
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);
};

/** Refs with long names, so that telling them takes more bytes than connections hold. */
export function manyRefs(sha: string, count: number): string {
  const names = Array.from({ length: count }, (_, n) => `${sha} refs/heads/${'x'.repeat(200)}${n}\n`);
  return `# pack-refs with: peeled fully-peeled sorted \n${names.toSorted().join('')}`;
}

export interface HalfCommand {
  /** The answer to its beginning; null: none has come. */
  refusal(): string | null;
  channel: ssh2.ClientChannel;
}

/** Begins a command by SSH, sends this and reads nothing of the answer. */
export function beginCommand(
  client: ssh2.Client,
  service: Service,
  path: string,
  sent: string | Buffer = '',
): Promise<HalfCommand> {
  return new Promise((resolve, reject) => {
    client.exec(`${service} '/${path}'`, (error, channel) => {
      if (error) return reject(error);
      let told: string | null = null;
      channel.stderr.on('data', (chunk: Buffer) => {
        told = (told ?? '') + chunk.toString();
      });
      channel.on('error', () => {});
      if (sent.length > 0) channel.write(sent);
      resolve({ refusal: () => told, channel });
    });
  });
}

/** Somebody logged in by SSH, who does not mind being cut. */
export async function openSsh(port: number, privateKey: string, from?: string): Promise<ssh2.Client> {
  const client = new ssh2.Client();
  client.on('error', () => {});
  client.connect({
    host: '127.0.0.1',
    port,
    username: 'git',
    privateKey,
    ...(from && { localAddress: from }),
  });
  await once(client, 'ready');
  return client;
}

/** Asks for the list of refs, and for nothing then. Answers it. */
export function listRefs(client: ssh2.Client, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    client.exec(`git-upload-pack '/${path}'`, (error, channel) => {
      if (error) return reject(error);
      let told = '';
      channel.on('data', (chunk: Buffer) => {
        told += chunk.toString();
      });
      channel.on('close', () => resolve(told));
      channel.end('0000');
    });
  });
}

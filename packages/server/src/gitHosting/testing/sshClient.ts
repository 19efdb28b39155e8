import { once } from 'node:events';
import ssh2 from 'ssh2';
import type { Ran } from './gitClient.ts';

/** An SSH client that sends what the `ssh` program would not. It logs in as `git` with this private key. */
export async function logIn(port: number, privateKey: string): Promise<ssh2.Client> {
  const client = new ssh2.Client();
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey });
  await once(client, 'ready');
  return client;
}

/** Waits until it is closed: the end of the platform would reset it. */
export async function endSsh(client: ssh2.Client): Promise<void> {
  const closed = once(client, 'close');
  client.end();
  await closed;
}

/** Whether the server begins to run this command. */
export const isAccepted = (client: ssh2.Client, command: string): Promise<boolean> =>
  new Promise((resolve) => {
    client.exec(command, (error, channel) => {
      channel?.close();
      resolve(!error);
    });
  });

export const runOverSsh = (client: ssh2.Client, command: string): Promise<Ran> =>
  new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) return reject(error);
      let [stdout, stderr] = ['', ''];
      channel.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
      });
      channel.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
      });
      channel.on('close', (code: number | null) => resolve({ code, stdout, stderr }));
    });
  });

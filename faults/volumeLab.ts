import { mkdir } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { api } from '@stagi/contract/api.ts';
import type { CallError } from '@stagi/contract/errors.ts';
import { UPLOAD_PREFIX } from '@stagi/contract/volumePaths.ts';
import { startTestApp, type TestApp } from '@stagi/server/src/testing/app.ts';
import type { Person } from '@stagi/server/src/testing/person.ts';
import { expect } from 'vitest';
import { type FilesDaemon, joinFilesDaemon } from './filesDaemon.ts';

/** A platform with a container whose volume `/data` the daemon's own code serves. */
export interface VolumeLab {
  app: TestApp;
  owner: Person;
  daemon: FilesDaemon;
  of: { id: number; volume: string };
  /** Where a path of the volume is on the server. */
  onServer(path: string): string;
  /** Uploads a file as a program does: asks for the link, then sends it in one `PUT`. */
  upload(path: string, body: Buffer, more?: { replace?: boolean }): Promise<Answer>;
  close(): Promise<void>;
}

interface Answer {
  status: number;
  body: unknown;
}

export async function startVolumeLab(): Promise<VolumeLab> {
  const app = await startTestApp({}, { role: 'api' });
  const owner = await app.signUp();
  const daemon = await joinFilesDaemon(app, owner);
  const of = { id: daemon.containerId, volume: '/data' };
  await mkdir(daemon.directory, { recursive: true });
  return {
    app,
    owner,
    daemon,
    of,
    onServer: (path) => join(daemon.directory, path),
    async upload(path, body, more = {}) {
      const { link } = await owner.client(api.volumeFiles.upload, { ...of, path, sizeBytes: body.length, ...more });
      return put(link, body);
    },
    async close() {
      await daemon.close();
      await app.close();
    },
  };
}

/** Whether it is what an unfinished upload is called. */
export const isDraft = (name: string): boolean => name.startsWith(UPLOAD_PREFIX);

/** A `PUT` as a program makes it. */
export function put(link: string, body: Readable | Buffer, at = 0, length?: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const url = new URL(link);
    const headers = length === undefined ? {} : { 'content-length': String(length) };
    const sent = request({
      host: url.hostname,
      port: url.port,
      path: `${url.pathname}?at=${at}`,
      method: 'PUT',
      headers,
    });
    sent.on('error', reject);
    sent.on('response', (answer: IncomingMessage) => {
      let text = '';
      answer.on('data', (part) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) }));
    });
    if (Buffer.isBuffer(body)) sent.end(body);
    else body.on('error', () => sent.destroy(new Error('cut'))).pipe(sent);
  });
}

export async function refusalOf(made: Promise<unknown>): Promise<CallError> {
  return made.then(
    () => expect.unreachable('was not refused'),
    (error: CallError) => error,
  );
}

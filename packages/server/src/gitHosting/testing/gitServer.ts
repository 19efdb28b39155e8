import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeAuthority, makeCertificate } from '../../testing/certificates.ts';
import type { Machine } from './gitClient.ts';

/** Somebody else's git server: `git http-backend` behind TLS, with a certificate of its own. */
export interface GitServer {
  port: number;
  caFile: string;
  /** Requests so far. */
  requests: string[];
  /** Answers in place of git, if it wants to. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  close(): Promise<void>;
}

export async function aGitServer(machine: Machine, root: string): Promise<GitServer> {
  const authority = makeAuthority(machine.home);
  const { key, certificate } = makeCertificate(machine.home, authority, ['localhost']);
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
    known.requests.push(`${request.method} ${request.url}`);
    if (known.intercept?.(request, response)) return;
    runBackend(root, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const known: GitServer = {
    port: (server.address() as AddressInfo).port,
    caFile: authority.certificate,
    requests: [],
    intercept: null,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return known;
}

/** CGI, as a web server runs it. */
function runBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: String(request.headers['content-type'] ?? ''),
      HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
      REMOTE_ADDR: '127.0.0.1',
    },
  });
  request.pipe(backend.stdin);
  backend.stdin.on('error', () => {});
  let head: Buffer | null = Buffer.alloc(0);
  backend.stdout.on('data', (chunk: Buffer) => {
    if (head === null) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    for (const line of head.subarray(0, end).toString().split('\r\n')) {
      const [name = '', value = ''] = line.split(': ', 2);
      if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
    head = null;
  });
  backend.stdout.on('end', () => response.end());
}

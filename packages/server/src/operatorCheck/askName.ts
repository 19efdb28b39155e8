import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { addressesOf } from './addressesOf.ts';

const PATIENCE_MS = 10_000;

export interface Question {
  origin: string;
  path: string;
  method?: string;
  headers?: Record<string, string>;
  /** Bytes that are announced and never sent. */
  announcedBytes?: number;
}

export interface NameAnswer {
  status: number;
  /** The platform marks each answer with an id; a proxy that answers by itself does not. */
  isOfPlatform: boolean;
  /** The end of the certificate; null without TLS. */
  certificateUntil: Date | null;
}

/** Asks as a stranger would: by name, on a connection of its own. Throws what the connection ends with. */
export function askName({ origin, path, method = 'GET', headers = {}, announcedBytes }: Question): Promise<NameAnswer> {
  const url = new URL(path, origin);
  const sent = announcedBytes === undefined ? headers : { ...headers, 'content-length': String(announcedBytes) };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method,
      headers: sent,
      agent: false,
      lookup,
      timeout: PATIENCE_MS,
    });
    const answered = (answer: IncomingMessage): void => {
      resolve({
        status: answer.statusCode ?? 0,
        isOfPlatform: 'x-request-id' in answer.headers || 'x-amz-request-id' in answer.headers,
        certificateUntil: certificateUntil(answer),
      });
      request.destroy();
    };
    request.on('response', answered);
    request.on('upgrade', (answer, socket) => {
      answered(answer);
      // No longer the request's own.
      socket.destroy();
    });
    request.on('timeout', () => request.destroy(new Error(`nothing answers within ${PATIENCE_MS / 1_000} s`)));
    request.on('error', reject);
    if (announcedBytes === undefined) request.end();
    else request.flushHeaders();
  });
}

const lookup: LookupFunction = (hostname, { all }, done) => {
  addressesOf(hostname).then(
    (found) => {
      const [first] = found;
      if (!first) done(new Error(`the name ${hostname} has no address`), '');
      else if (all) done(null, found);
      else done(null, first.address, first.family);
    },
    (error: NodeJS.ErrnoException) => done(error, ''),
  );
};

function certificateUntil({ socket }: IncomingMessage): Date | null {
  if (!('getPeerCertificate' in socket)) return null;
  return new Date((socket as TLSSocket).getPeerCertificate().valid_to);
}

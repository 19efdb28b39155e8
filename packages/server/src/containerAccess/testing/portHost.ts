import { createHash } from 'node:crypto';
import { request } from 'node:http';
import type { TestApp } from '../../testing/app.ts';

/** What a browser gets from a host. */
export interface Page {
  status: number;
  location: string | null;
  /** The pass cookie; null where none is set. */
  cookie: string | null;
  cookies: string[];
  /** `Clear-Site-Data`. */
  clears: string | null;
  body: string;
}

/** Requests a path with this `Host` header. */
export function visitHost(
  { url }: TestApp,
  host: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Page> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port, path, headers: { host, accept: 'text/html', ...headers } },
      (reply) => {
        let body = '';
        reply.setEncoding('utf8').on('data', (part: string) => {
          body += part;
        });
        const cookies = reply.headers['set-cookie'] ?? [];
        reply.on('end', () =>
          resolve({
            status: reply.statusCode ?? 0,
            location: reply.headers.location ?? null,
            cookie: cookies.find((one) => one.startsWith('stagi-port=')) ?? null,
            cookies,
            clears: reply.headers['clear-site-data']?.toString() ?? null,
            body,
          }),
        );
      },
    );
    asked.on('error', reject).end();
  });
}

export const passOf = ({ cookie }: Page): string => /^stagi-port=([^;]+)/.exec(cookie ?? '')?.[1] ?? '';
export const withPass = (pass: string) => ({ cookie: `stagi-port=${pass}` });

/** The cookie of the access request: name and secret. */
export const requestCookieOf = ({ cookies }: Page): string => /^stagi-trip-[^;]+/.exec(cookies[0] ?? '')?.[0] ?? '';
export const stateOf = (trip: string): string =>
  createHash('sha256')
    .update(trip.slice(trip.indexOf('=') + 1))
    .digest('base64url');

import { isErrorBody } from '@stagi/contract/errors.ts';

/** A PUT that was not accepted. */
export class PutError extends Error {
  /** 0: no answer came. */
  readonly status: number;
  /** Of S3, such as `QuotaExceeded`. */
  readonly code: string | null;
  readonly retryAfterMs: number;
  /** Of the platform: why, in English. */
  readonly reason: string | null;
  constructor(status: number, code: string | null, retryAfterMs = 0, reason: string | null = null) {
    super(`the upload was answered with ${status} ${code ?? ''}`);
    this.name = 'PutError';
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.reason = reason;
  }
}

/** Without progress for so long the connection counts as dead. */
const STALLED_MS = 60_000;

interface Options {
  signal: AbortSignal;
  /** Bytes of this request that have been sent so far. */
  onProgress(bytes: number): void;
  contentType?: string;
}

/**
 * Sends bytes to a URL. `fetch` does not report how much it has sent, so this is an XMLHttpRequest.
 * Throws `PutError`, or the signal's reason.
 */
export function putBytes(link: string, body: Blob, { signal, onProgress, contentType }: Options): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    let stalled = 0;
    const watch = () => {
      window.clearTimeout(stalled);
      stalled = window.setTimeout(() => request.abort(), STALLED_MS);
    };
    const abort = () => request.abort();
    signal.addEventListener('abort', abort, { once: true });
    request.open('PUT', link);
    if (contentType) request.setRequestHeader('content-type', contentType);
    request.upload.onprogress = ({ loaded }) => {
      watch();
      onProgress(loaded);
    };
    request.onloadend = () => {
      window.clearTimeout(stalled);
      signal.removeEventListener('abort', abort);
      if (signal.aborted) reject(signal.reason);
      else if (request.status >= 200 && request.status < 300) resolve();
      else reject(refusalOf(request));
    };
    watch();
    request.send(body);
  });
}

function refusalOf(request: XMLHttpRequest): PutError {
  const code = /<Code>(\w+)<\/Code>/.exec(request.responseText)?.[1] ?? null;
  const seconds =
    request.status === 503 || request.status === 429 ? Number(request.getResponseHeader('retry-after')) : 0;
  return new PutError(request.status, code, Number.isFinite(seconds) ? seconds * 1000 : 0, reasonIn(request));
}

function reasonIn({ responseText }: XMLHttpRequest): string | null {
  try {
    const body: unknown = JSON.parse(responseText);
    return isErrorBody(body) ? body.message : null;
  } catch {
    // The S3 service answers in XML.
    return null;
  }
}

import type { IncomingMessage } from 'node:http';
import * as transfer from '@stagi/contract/taskTransfer.ts';
import { text } from '@stagi/contract/text.ts';
import { z } from 'zod';
import { readText, sendRequest } from './httpRequest.ts';
import { errorText } from './log.ts';
import { parseJson } from './parseJson.ts';
import { backoffMs, sleep } from './timing.ts';
import { TransferError } from './transferError.ts';

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
/** A request is tried for one to four minutes before the whole step is given up until later. */
const ATTEMPTS = 10;
const RETRY_CAP_MS = 30_000;

/** The calls of `taskTransfer.ts` for one run, and its objects by their presigned links. Errors are `TransferError`. */
export interface TaskPlatform {
  /** The tar archive of the commit. */
  source(): Promise<IncomingMessage>;
  inputPage(after: string | null): Promise<z.infer<typeof transfer.TaskInputPage>>;
  outputLinks(files: { path: string; sizeBytes: number }[]): Promise<Map<string, string>>;
  beginUpload(file: { path: string; sizeBytes: number }): Promise<z.infer<typeof transfer.TaskUpload>>;
  partLinks(path: string, uploadId: string, partNumbers: number[]): Promise<Map<number, string>>;
  completeUpload(path: string, uploadId: string): Promise<void>;
  getObject(url: string, headers: Record<string, string>): Promise<IncomingMessage>;
  putObject(url: string, body: Buffer): Promise<void>;
}

/** `onTrouble` is told why a request is tried again, and null when it has succeeded then. */
export function taskPlatform(about: {
  origin: string;
  token: string;
  signal: AbortSignal;
  onTrouble(message: string | null): void;
}): TaskPlatform {
  const { origin, token, signal } = about;

  /** Tries again what fails for a passing reason. */
  async function withRetries<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        const result = await work();
        if (attempt > 0) about.onTrouble(null);
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof TransferError) || error.retry !== 'soon' || attempt + 1 === ATTEMPTS) throw error;
        about.onTrouble(error.message);
        await sleep(backoffMs(attempt, RETRY_CAP_MS), signal);
        signal.throwIfAborted();
      }
    }
  }
  async function ask(path: string, body?: object): Promise<IncomingMessage> {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    };
    const response = await platformAnswer(() =>
      sendRequest(new URL(path, origin).href, {
        method: body ? 'POST' : 'GET',
        headers,
        ...(body ? { body: Buffer.from(JSON.stringify(body)) } : {}),
        signal,
      }),
    );
    if (response.statusCode === 200) return response;
    throw refusal(response.statusCode ?? 0, await platformAnswer(() => readText(response, MAX_ERROR_BYTES)));
  }
  function call<T>(path: string, input: object, output: z.ZodType<T>): Promise<T> {
    return withRetries(async () => {
      const response = await ask(path, input);
      const answer = output.safeParse(parseJson(await platformAnswer(() => readText(response, MAX_ANSWER_BYTES))));
      if (answer.success) return answer.data;
      throw new TransferError(text('The answer of the platform is not valid'), 'later');
    });
  }
  return {
    source: () => withRetries(() => ask(transfer.TASK_SOURCE_PATH)),
    inputPage: (after) => call(transfer.TASK_INPUT_PATH, { after }, transfer.TaskInputPage),
    async outputLinks(files) {
      const { links } = await call(transfer.TASK_OUTPUT_LINKS_PATH, { files }, transfer.TaskOutputLinks);
      return new Map(links.map(({ path, url }) => [path, url]));
    },
    beginUpload: (file) => call(transfer.TASK_OUTPUT_BEGIN_PATH, file, transfer.TaskUpload),
    async partLinks(path, uploadId, partNumbers) {
      const input = { path, uploadId, partNumbers };
      const { links } = await call(transfer.TASK_OUTPUT_PARTS_PATH, input, transfer.TaskUploadParts);
      return new Map(links.map(({ partNumber, url }) => [partNumber, url]));
    },
    async completeUpload(path, uploadId) {
      await call(transfer.TASK_OUTPUT_COMPLETE_PATH, { path, uploadId }, z.object({}));
    },
    getObject: (url, headers) =>
      withRetries(async () => {
        const response = await storageAnswer(() => sendRequest(url, { method: 'GET', headers, signal }));
        if (response.statusCode === 200 || response.statusCode === 206) return response;
        throw await storageRefusal(response);
      }),
    putObject: (url, body) =>
      withRetries(async () => {
        const response = await storageAnswer(() => sendRequest(url, { method: 'PUT', body, signal }));
        if (response.statusCode !== 200) throw await storageRefusal(response);
        await storageAnswer(() => readText(response, MAX_ERROR_BYTES));
      }),
  };
}

async function platformAnswer<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new TransferError(text('The platform cannot be reached: {{reason}}', { reason: errorText(error) }), 'soon');
  }
}

async function storageAnswer<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new TransferError(text('The storage cannot be reached: {{reason}}', { reason: errorText(error) }), 'soon');
  }
}

/** The table of `taskTransfer.ts`. */
function refusal(status: number, body: string): TransferError {
  const said = z.object({ message: z.string() }).safeParse(parseJson(body)).data?.message;
  const message = said ?? text('The platform answered with status {{status}}', { status });
  if (status === 401 || status === 410 || status === 422) return new TransferError(message, 'final');
  return new TransferError(message, isPassing(status) ? 'soon' : 'later');
}

/** Another link, or an explanation of the platform, may help against any other refusal. */
async function storageRefusal(response: IncomingMessage): Promise<TransferError> {
  const status = response.statusCode ?? 0;
  const body = await storageAnswer(() => readText(response, MAX_ERROR_BYTES));
  const reason = /<Message>([^<]{1,300})<\/Message>/.exec(body)?.[1] ?? String(status);
  return new TransferError(text('The storage refused: {{reason}}', { reason }), isPassing(status) ? 'soon' : 'later');
}

function isPassing(status: number): boolean {
  return status === 429 || status >= 500;
}

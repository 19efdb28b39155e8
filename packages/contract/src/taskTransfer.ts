import { z } from 'zod';

/**
 * What a daemon calls to put files into the run of a task and to store its output: HTTP requests to the pinned origin,
 * `Authorization: Bearer` with the token of `DesiredTask`, which names the run. Bodies and answers are JSON but for the
 * source. An error answers `{ message }`; its status says what to do:
 *
 * | status | meaning | the daemon |
 * |---|---|---|
 * | 401, 410 | the run has ended, or there is no such token | gives up |
 * | 422 | it can never succeed: the commit is gone, an object cannot be a file | gives up, with the message |
 * | 409 | not now: the storage is full or read-only | tries again, with the message as reason |
 * | 429, 5xx, no answer | the platform or the network | tries again |
 *
 * | request | answer |
 * |---|---|
 * | `GET /daemon-api/task/source` | `application/x-tar`, the files of the commit, by paths relative to `codePath` |
 * | `POST /daemon-api/task/input` `TaskInputRequest` | `TaskInputPage` |
 * | `POST /daemon-api/task/output/links` `TaskOutputLinksRequest` | `TaskOutputLinks`, for files up to `TASK_PUT_MAX_BYTES` |
 * | `POST /daemon-api/task/output/begin` `TaskUploadBegin` | `TaskUpload`, for a larger file |
 * | `POST /daemon-api/task/output/parts` `TaskUploadPartsRequest` | `TaskUploadParts` |
 * | `POST /daemon-api/task/output/complete` `TaskUploadComplete` | `{}` |
 *
 * Links are presigned S3 URLs. They end with the run.
 */
export const TASK_SOURCE_PATH = '/daemon-api/task/source';
export const TASK_INPUT_PATH = '/daemon-api/task/input';
export const TASK_OUTPUT_LINKS_PATH = '/daemon-api/task/output/links';
export const TASK_OUTPUT_BEGIN_PATH = '/daemon-api/task/output/begin';
export const TASK_OUTPUT_PARTS_PATH = '/daemon-api/task/output/parts';
export const TASK_OUTPUT_COMPLETE_PATH = '/daemon-api/task/output/complete';

/** A larger file is uploaded in parts. */
export const TASK_PUT_MAX_BYTES = 64 * 1024 * 1024;

/** Of the path of an output file: with `tasks/{id}/output/` before it, it is a key of at most 1,024 bytes. */
export const TASK_OUTPUT_PATH_MAX_BYTES = 1000;

/** Relative, with `/` between names; no name is empty, `.` or `..`. */
const RelativePath = z.string().min(1).max(1024);
const Bytes = z.number().int().min(0);

export const TaskInputRequest = z.object({
  /** `next` of the page before; null: the first page. */
  after: z.string().max(2048).nullable(),
});
export const TaskInputPage = z.object({
  files: z.array(z.object({ path: RelativePath, sizeBytes: Bytes, url: z.url() })).max(500),
  /** Null: this page is the last. */
  next: z.string().nullable(),
});

export const TaskOutputLinksRequest = z.object({
  files: z
    .array(z.object({ path: RelativePath, sizeBytes: Bytes.max(TASK_PUT_MAX_BYTES) }))
    .min(1)
    .max(100),
});
/** `PUT` each file to its link, with its `content-length`. */
export const TaskOutputLinks = z.object({ links: z.array(z.object({ path: RelativePath, url: z.url() })) });

export const TaskUploadBegin = z.object({ path: RelativePath, sizeBytes: Bytes });
/** Parts of `partBytes`, the last one shorter, with numbers from 1. Beginning again ends the upload before. */
export const TaskUpload = z.object({ uploadId: z.string().max(200), partBytes: z.number().int().positive() });

export const TaskUploadPartsRequest = z.object({
  path: RelativePath,
  uploadId: z.string().max(200),
  partNumbers: z.array(z.number().int().min(1).max(10_000)).min(1).max(100),
});
export const TaskUploadParts = z.object({ links: z.array(z.object({ partNumber: z.number().int(), url: z.url() })) });

export const TaskUploadComplete = z.object({ path: RelativePath, uploadId: z.string().max(200) });

import { z } from 'zod';
import { call } from './call.ts';
import { Id } from './page.ts';
import { text } from './text.ts';

/** A blob is shown as text up to this size. */
export const MAX_TEXT_BYTES = 1024 * 1024;
/** Entries of one folder, files of one commit and characters of one patch that are answered at most. */
export const MAX_TREE_ENTRIES = 2_000;
export const MAX_COMMIT_FILES = 300;
export const MAX_PATCH_CHARACTERS = 200_000;
export const MAX_COMMIT_PATCH_CHARACTERS = 1_500_000;
export const MAX_SEARCH_FILES = 100;
export const MAX_SEARCH_LINES_PER_FILE = 10;

/** The full hash of a commit, tree or blob. */
export const ObjectHash = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/, text('This is not the hash of an object'));

/** The name of a branch or a tag as it is written after `refs/heads/` or `refs/tags/`. */
export const RefName = z
  .string()
  .min(1, text('Branch is required'))
  .max(255, text('This branch does not exist'))
  .refine((name) => name.isWellFormed(), text('This branch does not exist'));

/**
 * Parts joined by `/`, without one at the beginning or the end; empty: the root folder. Names in a repository are bytes:
 * in a path `\\` stands for a backslash, `\n`, `\r`, `\t` and `\xHH` for control characters, and `\xHH` for a byte
 * that is no UTF-8.
 */
export const CodePath = z
  .string()
  .max(16_384, text('This path does not exist'))
  .refine((path) => path.isWellFormed(), text('This path does not exist'));

/**
 * What is read of a project. `sha` names a commit that a branch or tag of the project contains. Without it the tip of
 * `branch` (a branch, or else a tag of this name) is read, and without that the tip of the default branch.
 */
const At = z.object({ id: Id, branch: RefName.optional(), sha: ObjectHash.optional() });
const PathAt = At.extend({ path: CodePath.default('') });

const Signature = z.object({ name: z.string(), email: z.string(), at: z.string() });

/** A commit in a list. */
export const CommitLine = z.object({
  sha: z.string(),
  /** The first line of the message. */
  title: z.string(),
  author: Signature,
  committer: Signature,
});
export type CommitLine = z.infer<typeof CommitLine>;

/** What was read, as an answer repeats it. */
const ReadAt = {
  isSuccess: z.literal(true),
  /** The branch or tag that was read; null when only a hash was given. */
  branch: z.string().nullable(),
  refKind: z.enum(['branch', 'tag']).nullable(),
  defaultBranch: z.string(),
  /** Null: the project is empty, or its default branch is. */
  commit: CommitLine.nullable(),
};

/**
 * Where files of this commit are read as they are: `link` and the path, each part encoded, make the address of a file.
 * With `?download` it is saved as a file. Works for the caller until `expiresAt`, on the content host.
 */
export const RawFiles = z.object({ link: z.string(), expiresAt: z.string() });
export type RawFiles = z.infer<typeof RawFiles>;

export const EntryType = z.enum(['tree', 'blob', 'symlink', 'submodule']);
export type EntryType = z.infer<typeof EntryType>;

export const TreeEntry = z.object({
  /** Written like a path. */
  name: z.string(),
  /** From the root, as `path` of other calls. */
  path: z.string(),
  type: EntryType,
  /** In octal, as git writes it: `100644`. */
  mode: z.string(),
  /** Of the tree or blob; of a submodule, the commit. */
  sha: z.string(),
  /** Bytes of a blob or symlink. */
  size: z.number().nullable(),
  /** The last commit that changed it; null: not found in time. */
  lastCommit: CommitLine.nullable(),
});
export type TreeEntry = z.infer<typeof TreeEntry>;

/** That of a text that is not in UTF-8; it is answered decoded. */
export const TextEncoding = z.enum(['utf-16le', 'utf-16be']);
export type TextEncoding = z.infer<typeof TextEncoding>;

export const BlobContent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string(), encoding: TextEncoding.optional() }),
  z.object({ kind: z.literal('binary') }),
  z.object({ kind: z.literal('too-large'), limitBytes: z.number() }),
  /** A pointer to a file that Git LFS keeps elsewhere. */
  z.object({ kind: z.literal('lfs'), oid: z.string(), sizeBytes: z.number() }),
  z.object({ kind: z.literal('symlink'), target: z.string() }),
  /** The commit of another repository; `url` as `.gitmodules` says it. */
  z.object({ kind: z.literal('submodule'), commit: z.string(), url: z.string().nullable() }),
]);
export type BlobContent = z.infer<typeof BlobContent>;

export const ChangedFile = z.object({
  path: z.string(),
  /** Where it was renamed or copied from. */
  oldPath: z.string().nullable(),
  status: z.enum(['added', 'modified', 'deleted', 'renamed', 'copied', 'type-changed']),
  oldMode: z.string().nullable(),
  mode: z.string().nullable(),
  oldSha: z.string().nullable(),
  sha: z.string().nullable(),
  isBinary: z.boolean(),
  /** That of a text that is not in UTF-8: `patch` compares it decoded. */
  encoding: TextEncoding.optional(),
  /** Null for a binary file. */
  additions: z.number().nullable(),
  deletions: z.number().nullable(),
  /** Unified, with its headers; null: none (binary, only the mode changed) or left out (`isCut`). */
  patch: z.string().nullable(),
  /** The patch is too large: it ends early or is left out. */
  isCut: z.boolean(),
});
export type ChangedFile = z.infer<typeof ChangedFile>;

export const Commit = CommitLine.extend({
  /** After the first line. */
  body: z.string(),
  parents: z.array(CommitLine),
  tree: z.string(),
});
export type Commit = z.infer<typeof Commit>;

export const CodeRef = z.object({
  name: z.string(),
  kind: z.enum(['branch', 'tag']),
  isDefault: z.boolean(),
  commit: CommitLine,
});
export type CodeRef = z.infer<typeof CodeRef>;

/** Lines of one commit that follow each other. */
export const BlameRange = z.object({
  /** From 1. */
  line: z.number(),
  lines: z.number(),
  sha: z.string(),
  /** Where these lines were in that commit, if the file was renamed since. */
  oldPath: z.string().nullable(),
});
export type BlameRange = z.infer<typeof BlameRange>;

const READ = ['PROJECT', 'PROJECT_MANAGEMENT'] as const;

/** Reading the repository of a project. */
export const projectCode = {
  tree: call({
    path: 'project/code/tree',
    summary: 'One folder of a project’s repository, with the last commit of each entry.',
    auth: READ,
    byToken: true,
    input: PathAt.extend({ lastCommits: z.boolean().default(true) }),
    output: z.object({
      ...ReadAt,
      path: z.string(),
      /** Folders first, then by name. */
      entries: z.array(TreeEntry),
      /** The folder has more entries than are answered. */
      isMore: z.boolean(),
      /** The last commit that changed this folder. */
      lastCommit: CommitLine.nullable(),
      /** The README of this folder: `path` is read by `project/code/blob`. */
      readme: z.object({ name: z.string(), path: z.string(), sha: z.string() }).nullable(),
      raw: RawFiles.nullable(),
    }),
  }),
  blob: call({
    path: 'project/code/blob',
    summary: 'One file of a project’s repository: its text, or what it is instead.',
    auth: READ,
    byToken: true,
    input: PathAt,
    output: z.object({
      ...ReadAt,
      path: z.string(),
      name: z.string(),
      type: EntryType,
      mode: z.string(),
      sha: z.string(),
      size: z.number(),
      content: BlobContent,
      /** The type of an image that `raw` answers; null: no image that is shown. */
      imageType: z.string().nullable(),
      lastCommit: CommitLine.nullable(),
      raw: RawFiles.nullable(),
    }),
  }),
  commit: call({
    path: 'project/code/commit',
    summary: 'One commit with what it changed against its first parent.',
    auth: READ,
    byToken: true,
    input: PathAt.extend({ ignoreWhitespace: z.boolean().default(false) }),
    output: z.object({
      isSuccess: z.literal(true),
      entity: Commit,
      /** With a path: those at or below it. */
      files: z.array(ChangedFile),
      /** Of all files at or below the path, also of those left out. */
      totals: z.object({ files: z.number(), additions: z.number(), deletions: z.number() }),
      isMore: z.boolean(),
      /** Of this commit, and of its first parent where it has one. */
      raw: RawFiles,
      parentRaw: RawFiles.nullable(),
    }),
  }),
  commits: call({
    path: 'project/code/commits',
    summary: 'The history of a branch, a tag or a commit, newest first; with a path, what changed it.',
    auth: READ,
    byToken: true,
    input: PathAt.extend({
      /** `next` of the page before. */
      cursor: z
        .string()
        .max(100)
        .regex(/^([0-9a-f]{40}|[0-9a-f]{64})\.\d{1,9}$/, text('The request is not valid'))
        .optional(),
      limit: z.number().int().min(1).max(100).default(30),
    }),
    output: z.object({
      ...ReadAt,
      path: z.string(),
      commits: z.array(CommitLine.extend({ parents: z.array(z.string()) })),
      next: z.string().nullable(),
    }),
  }),
  refs: call({
    path: 'project/code/refs',
    summary: 'Branches and tags of a project, the default branch first, then by the time of their last commit.',
    auth: READ,
    byToken: true,
    input: z.object({
      id: Id,
      kind: z.enum(['branch', 'tag']),
      query: z.string().trim().max(200).optional(),
      limit: z.number().int().min(1).max(100).default(30),
      page: z.number().int().min(1).max(100_000).default(1),
    }),
    output: z.object({
      isSuccess: z.literal(true),
      defaultBranch: z.string(),
      refs: z.array(CodeRef),
      totalCount: z.number().int(),
    }),
  }),
  search: call({
    path: 'project/code/search',
    summary: 'Lines of the text files of one commit that contain a text, and files whose path contains it.',
    auth: READ,
    byToken: true,
    input: PathAt.extend({
      query: z
        .string(text('Type what to search for'))
        .min(2, text('Type at least 2 characters'))
        .max(200, text('Search for at most 200 characters'))
        .refine((query) => query.isWellFormed() && !/[\n\r\0]/.test(query), text('Search for one line')),
      matchCase: z.boolean().default(false),
    }),
    output: z.object({
      ...ReadAt,
      /** Files whose path contains the text. */
      paths: z.array(z.string()),
      files: z.array(
        z.object({
          path: z.string(),
          /** At most so many of a file: `isMore` then. Long lines are cut around the match. */
          lines: z.array(z.object({ line: z.number(), text: z.string() })),
          isMore: z.boolean(),
        }),
      ),
      /** There are more files, or the search ended before all files were read. */
      isMore: z.boolean(),
    }),
  }),
  blame: call({
    path: 'project/code/blame',
    summary: 'Which commit last changed each line of a text file.',
    auth: READ,
    byToken: true,
    input: PathAt.extend({ ignoreWhitespace: z.boolean().default(false) }),
    output: z.object({
      ...ReadAt,
      path: z.string(),
      sha: z.string(),
      /** Of the whole file, in order; empty for an empty file. */
      ranges: z.array(BlameRange),
      /** Each commit of the ranges once. */
      commits: z.array(CommitLine),
    }),
  }),
};

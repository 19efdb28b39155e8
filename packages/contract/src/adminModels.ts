import {
  CatalogueModel,
  REPOSITORY as HUB_REPOSITORY,
  MODEL_TASKS,
  type Source,
  VARIANT,
} from '@stagi/perf/catalogue.ts';
import { precisionOf } from '@stagi/perf/precision.ts';
import { z } from 'zod';
import { call } from './call.ts';
import { nameOf } from './fields.ts';
import { Id, ListInput, listOf, oneOf, SuccessResponse } from './page.ts';
import { text } from './text.ts';

/** What operators made of an entry of the catalogue: nothing, a change of some numbers, a new entry, or nothing at all. */
export const ENTRY_STATES = ['shipped', 'changed', 'added', 'hidden'] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

/** Why a change has no effect: a release changed the entry so that it does not fit, or brought the same model. */
export const ENTRY_PROBLEMS = ['invalid', 'shipped meanwhile'] as const;

export const SOURCE_NOTE_MAX = 500;
const SOURCES_MAX = 20;
const FILES_MAX = 60;
const VARIANTS_MAX = 60;
const NAME_MAX = 200;

const WHOLE = text('Enter a whole number greater than 0');
const NUMBER = text('Enter a number greater than 0');
const TOO_LONG = text('Too long: at most 200 characters');
const REPOSITORY = text('Enter a repository of the hub: owner/name');
const FILE = text('A file is named like Q4_K_M: letters, digits, dots, underscores and hyphens');

const Count = z.number(WHOLE).int(WHOLE).positive(WHOLE).max(Number.MAX_SAFE_INTEGER, WHOLE);
const WholeOrNone = z.number(WHOLE).int(WHOLE).min(0, WHOLE).max(Number.MAX_SAFE_INTEGER, WHOLE);
const Positive = z.number(NUMBER).positive(NUMBER);
const line = (required: string) => nameOf({ required, tooLong: TOO_LONG, max: NAME_MAX });
const fileName = (required: string) => line(required).max(100, FILE).regex(VARIANT, FILE);
const repository = (required: string) => line(required).regex(HUB_REPOSITORY, REPOSITORY);
/** `null`: not known, or not so for this model. */
const optional = <T extends z.ZodType>(schema: T) => schema.nullable().optional();

/** In the address of its page only letters, digits, dots and hyphens stay. */
export const ModelId = repository(text('Repository is required')).refine(
  (id) => /\/[a-z0-9]/i.test(id),
  text('The name of the repository must begin with a letter or a digit'),
);

const PublishedFile = z.strictObject({
  precision: line(text('Precision is required')).refine(
    (label) => isGguf(label) || precisionOf(label) !== undefined,
    text('This precision is not known'),
  ),
  repository: repository(text('Repository is required')),
  variants: z
    .array(fileName(text('Name the file')))
    .max(VARIANTS_MAX)
    .optional(),
  filesGB: z.record(fileName(text('Name the file')), Positive).optional(),
  filesGiB: z.record(fileName(text('Name the file')), Positive).optional(),
});

export const isGguf = (label: string): boolean => /^gg(uf|ml)$/i.test(label.trim());

const PublishedFiles = z
  .array(PublishedFile)
  .min(1, text('Name at least one published file'))
  .max(FILES_MAX, text('At most 60 files'))
  .superRefine((files, ctx) => {
    for (const [index, { precision, variants, filesGB, filesGiB }] of files.entries())
      if (isGguf(precision) && !variants?.length && !filesGB && !filesGiB)
        ctx.addIssue({
          code: 'custom',
          path: [index, 'variants'],
          message: text('Name the files of this repository, such as Q4_K_M'),
        });
  });

/** The fields of an entry. Numbers are counts: parameters are not in billions. */
const FIELDS = {
  name: line(text('Title is required')),
  publisher: line(text('Publisher is required')),
  task: z.enum(MODEL_TASKS, text('Please choose a task')),
  licence: optional(line(text('Licence is required'))),
  parameters: z.strictObject({ total: Count, active: optional(Count) }, text('Parameters are required')),
  precisions: PublishedFiles,
  releasedAt: optional(z.string().trim().refine(isDay, text('Enter a day as 2026-05-31, or a month as 2026-05'))),
  capabilities: optional(z.array(line(text('Name the capability'))).max(20)),
  kind: optional(line(text('Kind is required'))),
  doubts: optional(z.string().trim().max(1_000, text('Too long: at most 1,000 characters'))),
  links: z
    .array(line(text('Link is required')))
    .max(100)
    .optional(),
  layers: optional(Count),
  hiddenSize: optional(Count),
  heads: optional(Count),
  kvHeads: optional(Count),
  headDim: optional(Count),
  intermediateSize: optional(Count),
  vocabSize: optional(Count),
  contextLength: optional(Count),
  tiedEmbeddings: optional(z.boolean()),
  experts: optional(Count),
  activeExperts: optional(Count),
  moeIntermediateSize: optional(Count),
  sharedExperts: optional(Count),
  sharedExpertIntermediateSize: optional(Count),
  denseLayers: optional(Count),
  denseIntermediateSize: optional(Count),
  moeLayerStep: optional(Count),
  mla: optional(
    z.strictObject({
      kvLoraRank: Count,
      qLoraRank: optional(Count),
      qkRopeHeadDim: Count,
      qkNopeHeadDim: Count,
      vHeadDim: Count,
    }),
  ),
  fullAttentionLayers: optional(Count),
  fullAttentionInterval: optional(Count),
  slidingWindow: optional(Count),
  globalKvHeads: optional(Count),
  globalHeadDim: optional(Count),
  linearAttention: optional(z.boolean()),
  sparseAttention: optional(z.strictObject({ indexTopK: Count })),
  hybridPattern: optional(
    z.strictObject({ mamba: WholeOrNone, attention: WholeOrNone, moe: WholeOrNone, mlp: WholeOrNone }),
  ),
  embeddingDimensions: optional(Count),
  encoderLayers: optional(Count),
  decoderLayers: optional(Count),
  melBins: optional(Count),
  audioContext: optional(Count),
  doubleLayers: optional(Count),
  singleLayers: optional(Count),
} satisfies Record<Exclude<keyof CatalogueModel, 'id' | 'source'>, z.ZodType>;

export const ENTRY_FIELDS = Object.keys(FIELDS) as (keyof typeof FIELDS)[];
const FieldName = z.enum(ENTRY_FIELDS, text('There is no such field'));
export type EntryField = z.infer<typeof FieldName>;

const NewFields = z.strictObject(FIELDS);
const ChangedFields = z.strictObject(FIELDS).partial();
export type EntryInput = z.input<typeof ChangedFields>;

const NO_SOURCE = text('Source is required');
const NO_NOTE = text('Say what the source tells');

/** A page, a file of a public repository, or a computation. Which one, its fields tell. */
const SourceRow = z
  .strictObject({
    url: z.string(NO_SOURCE).trim().max(1_000, text('Too long: at most 1,000 characters')).optional(),
    repo: z.string(NO_SOURCE).trim().max(NAME_MAX, TOO_LONG).optional(),
    commit: z.string().trim().max(NAME_MAX, TOO_LONG).optional(),
    path: z.string().trim().max(NAME_MAX, TOO_LONG).optional(),
    computed: z.string(NO_SOURCE).trim().max(SOURCE_NOTE_MAX, text('Too long: at most 500 characters')).optional(),
    note: z.string(NO_NOTE).trim().max(SOURCE_NOTE_MAX, text('Too long: at most 500 characters')).optional(),
  })
  .transform((row, ctx): z.infer<typeof Source> => {
    const refuse = (path: string, message: string): never => {
      ctx.addIssue({ code: 'custom', path: [path], message });
      return z.NEVER;
    };
    const { url, repo, commit, path, computed, note = '' } = row;
    if (computed !== undefined) {
      if (url !== undefined || repo !== undefined)
        return refuse('computed', text('A source is a page, a file of a repository or a computation: one of them'));
      return computed === '' ? refuse('computed', NO_SOURCE) : { computed };
    }
    if (url !== undefined) {
      if (url === '') return refuse('url', NO_SOURCE);
      if (!z.url({ protocol: /^https$/ }).safeParse(url).success)
        return refuse('url', text('Enter an address that begins with https://'));
      return note === '' ? refuse('note', NO_NOTE) : { url, ...(repo && { repo }), note };
    }
    if (!repo) return refuse(repo === undefined ? 'url' : 'repo', NO_SOURCE);
    if (!/^[\w.-]+\/[\w.-]+$/.test(repo)) return refuse('repo', text('Enter a repository: owner/name'));
    if (!path) return refuse('path', text('Path is required'));
    return note === '' ? refuse('note', NO_NOTE) : { repo, ...(commit && { commit }), path, note };
  });
const SourceRows = z.array(SourceRow, NO_SOURCE).min(1, NO_SOURCE).max(SOURCES_MAX, text('At most 20 sources'));
export type SourceInput = z.input<typeof SourceRow>;

const Note = z.string().trim().max(1_000, text('Note is too long: at most 1,000 characters'));

export const CatalogueRow = z.object({
  modelId: z.string(),
  /** In the address of its page: `/models/{name}`. */
  name: z.string(),
  title: z.string(),
  publisher: z.string(),
  task: z.string(),
  /** Of all parameters; null where the entry is not valid. */
  parameters: z.number().nullable(),
  state: z.enum(ENTRY_STATES),
  /** Whether this release brings it; else operators added it. */
  isShipped: z.boolean(),
  /** Fields that differ from the shipped entry. */
  changed: z.array(z.string()),
  problem: z.enum(ENTRY_PROBLEMS).nullable(),
  note: z.string(),
  changedAt: z.string().nullable(),
  createdBy: z.object({ userId: Id, name: z.string(), email: z.string() }).nullable(),
});
export type CatalogueRow = z.infer<typeof CatalogueRow>;

export const AdminModel = CatalogueRow.extend({
  /** As the release brought it; null for an added one. */
  shipped: CatalogueModel.nullable(),
  /** With the changes of operators; null where they are not valid. */
  entry: CatalogueModel.nullable(),
  /** What operators entered. */
  fields: z.record(z.string(), z.unknown()),
  /** Where the operators' numbers come from. */
  source: CatalogueModel.shape.source.nullable(),
  /** An edit names the version that it was made of. */
  version: z.string().nullable(),
});
export type AdminModel = z.infer<typeof AdminModel>;

const OPERATOR = ['EMPLOYEE'] as const;
const Ref = z.object({ modelId: z.string().trim().min(1).max(NAME_MAX) });

export const adminModels = {
  list: call({
    path: 'admin/model/list',
    summary: 'All models of the catalogue, with what operators added, changed or hid.',
    auth: OPERATOR,
    input: ListInput.extend({ states: z.array(z.enum(ENTRY_STATES)).max(ENTRY_STATES.length).optional() }),
    output: listOf(CatalogueRow),
  }),
  view: call({
    path: 'admin/model/view',
    summary: 'One entry of the catalogue: as it was shipped, as it counts, and what operators changed.',
    auth: OPERATOR,
    input: Ref,
    output: oneOf(AdminModel),
  }),
  create: call({
    path: 'admin/model/create',
    summary: 'Adds a model to the catalogue. Its numbers need a source.',
    auth: OPERATOR,
    input: z.object({ modelId: ModelId, fields: NewFields, source: SourceRows, note: Note.default('') }),
    output: oneOf(AdminModel),
  }),
  edit: call({
    path: 'admin/model/edit',
    summary:
      'Changes fields of an entry. What is left out stays; a field in `reset` is as it was shipped again; null means ' +
      'that it is not known.',
    auth: OPERATOR,
    input: Ref.extend({
      /** As `view` told it: 409 if somebody else has changed the entry since. */
      version: z.string().max(40).nullable(),
      fields: ChangedFields.default({}),
      reset: z.array(FieldName).max(ENTRY_FIELDS.length).default([]),
      source: SourceRows,
      note: Note.default(''),
    }),
    output: oneOf(AdminModel),
  }),
  hide: call({
    path: 'admin/model/hide',
    summary: 'Hides a model: it is in no list, and its page is not found.',
    auth: OPERATOR,
    input: Ref,
    output: oneOf(AdminModel),
  }),
  show: call({
    path: 'admin/model/show',
    summary: 'Shows a hidden model again, with the changes that it had.',
    auth: OPERATOR,
    input: Ref,
    output: oneOf(AdminModel),
  }),
  delete: call({
    path: 'admin/model/delete',
    summary: 'Removes what operators entered: a shipped entry is as it was shipped, an added one is gone.',
    auth: OPERATOR,
    input: Ref,
    output: SuccessResponse,
  }),
};

/** `2026-05-31`, or `2026-05`; no 31st of April. */
function isDay(day: string): boolean {
  if (!/^\d{4}-\d{2}(-\d{2})?$/.test(day)) return false;
  const date = new Date(day);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

import type { AdminModel } from '@stagi/contract/adminModels.ts';
import { randomId } from '@stagi/contract/randomId.ts';
import type { CatalogueModel } from '@stagi/perf/catalogue.ts';
import type { Task } from '../modelWords.ts';
import { NUMBERS, type NumberGroup, type NumberName } from './entryNumbers.ts';

type YesNo = '' | 'yes' | 'no';

export interface FileRow {
  /** Tells rows apart while they are edited. */
  key: string;
  precision: string;
  repository: string;
  /** Of a GGUF repository: `Q4_K_M, Q8_0`. */
  variants: string;
  filesGB: Record<string, number>;
  filesGiB: Record<string, number>;
}

export const SOURCE_KINDS = ['url', 'repo', 'computed'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

export interface SourceRow {
  key: string;
  kind: SourceKind;
  url: string;
  repo: string;
  commit: string;
  path: string;
  computed: string;
  note: string;
}

/** What is typed into the form of an entry. Numbers are texts until they are sent; empty is not known. */
export interface Draft extends Record<NumberName, string>, Record<NumberGroup, Record<string, string>> {
  modelId: string;
  name: string;
  publisher: string;
  task: Task | null;
  licence: string;
  releasedAt: string;
  kind: string;
  capabilities: string;
  doubts: string;
  tiedEmbeddings: YesNo;
  linearAttention: YesNo;
  precisions: FileRow[];
  source: SourceRow[];
  note: string;
}

export const newFile = (): FileRow => ({
  key: randomId(),
  precision: '',
  repository: '',
  variants: '',
  filesGB: {},
  filesGiB: {},
});

export const newSource = (): SourceRow => ({
  key: randomId(),
  kind: 'url',
  url: '',
  repo: '',
  commit: '',
  path: '',
  computed: '',
  note: '',
});

export function emptyDraft(): Draft {
  return { ...draftOfEntry(undefined), precisions: [{ ...newFile(), precision: 'bf16' }], source: [newSource()] };
}

/** The entry as it counts, with what operators told of it. */
export function draftOf({ entry, shipped, source, note }: AdminModel): Draft {
  const sources = sourceRows(source);
  return {
    ...draftOfEntry(entry ?? shipped ?? undefined),
    source: sources.length > 0 ? sources : [newSource()],
    note,
  };
}

export function draftOfEntry(entry: CatalogueModel | undefined): Draft {
  const known: Record<string, unknown> = { ...entry };
  const numbers = Object.fromEntries(
    Object.entries(NUMBERS).map(([name, parts]) => [
      name,
      parts === null
        ? textOf(known[name])
        : Object.fromEntries(parts.map((part) => [part, textOf((known[name] as Record<string, unknown>)?.[part])])),
    ]),
  ) as Pick<Draft, NumberName | NumberGroup>;
  return {
    ...numbers,
    modelId: entry?.id ?? '',
    name: entry?.name ?? '',
    publisher: entry?.publisher ?? '',
    task: entry?.task ?? null,
    licence: entry?.licence ?? '',
    releasedAt: entry?.releasedAt ?? '',
    kind: entry?.kind ?? '',
    capabilities: (entry?.capabilities ?? []).join(', '),
    doubts: entry?.doubts ?? '',
    tiedEmbeddings: yesNo(entry?.tiedEmbeddings),
    linearAttention: yesNo(entry?.linearAttention),
    precisions: (entry?.precisions ?? []).map(({ precision, repository, variants, filesGB = {}, filesGiB = {} }) => ({
      key: randomId(),
      precision,
      repository,
      variants: [...new Set([...(variants ?? []), ...Object.keys(filesGB), ...Object.keys(filesGiB)])].join(', '),
      filesGB,
      filesGiB,
    })),
    source: [],
    note: '',
  };
}

export function sourceRows(source: CatalogueModel['source'] | null): SourceRow[] {
  return source === null || typeof source === 'string' ? [] : source.map((row) => ({ ...newSource(), ...kindOf(row) }));
}

function kindOf(row: Exclude<CatalogueModel['source'], string>[number]): Partial<SourceRow> {
  if ('computed' in row) return { kind: 'computed', ...row };
  return 'url' in row ? { kind: 'url', ...row } : { kind: 'repo', ...row };
}

/** The fields as the calls take them; `null` is not known. What is no number stays a text, for the schema to refuse. */
export function fieldsOf(draft: Draft): Record<string, unknown> {
  const numbers = Object.entries(NUMBERS).map(([name, parts]) => [
    name,
    parts === null ? numberOf(draft[name as NumberName]) : groupOf(draft[name as NumberGroup], parts),
  ]);
  return {
    ...Object.fromEntries(numbers),
    parameters: {
      total: numberOf(draft.parameters.total ?? '') ?? undefined,
      active: numberOf(draft.parameters.active ?? ''),
    },
    name: draft.name,
    publisher: draft.publisher,
    task: draft.task ?? undefined,
    licence: known(draft.licence),
    releasedAt: known(draft.releasedAt),
    kind: known(draft.kind),
    capabilities: draft.capabilities.trim() === '' ? null : listOf(draft.capabilities),
    doubts: known(draft.doubts),
    tiedEmbeddings: draft.tiedEmbeddings === '' ? null : draft.tiedEmbeddings === 'yes',
    linearAttention: draft.linearAttention === '' ? null : draft.linearAttention === 'yes',
    precisions: draft.precisions.map(({ precision, repository, variants, filesGB, filesGiB }) => {
      const named = listOf(variants);
      const sizes = { filesGB: ofNamed(filesGB, named), filesGiB: ofNamed(filesGiB, named) };
      return {
        precision,
        repository,
        ...(named.length > 0 && { variants: named }),
        ...(Object.keys(sizes.filesGB).length > 0 && { filesGB: sizes.filesGB }),
        ...(Object.keys(sizes.filesGiB).length > 0 && { filesGiB: sizes.filesGiB }),
      };
    }),
  };
}

/** What differs between two drafts: a change of one field leaves what somebody else did to another. */
export function changedFields(draft: Draft, start: Draft): Record<string, unknown> {
  const before = fieldsOf(start);
  return Object.fromEntries(
    Object.entries(fieldsOf(draft)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}

export const sourcesOf = (rows: readonly SourceRow[]): unknown[] =>
  rows.map(({ kind, url, repo, commit, path, computed, note }) => {
    if (kind === 'computed') return { computed };
    return kind === 'url' ? { url, note, ...(repo !== '' && { repo }) } : { repo, commit, path, note };
  });

/** Their rows that are not among mine yet. */
export function missingSources(mine: readonly SourceRow[], theirs: readonly SourceRow[]): SourceRow[] {
  const known = new Set(sourcesOf(mine).map((row) => JSON.stringify(row)));
  return theirs.filter((row) => !known.has(JSON.stringify(sourcesOf([row])[0])));
}

/** `8030261248`, or in groups of three: `8,030,261,248`, `8 030 261 248`. */
export function numberOf(typed: string): number | string | null {
  const text = typed.trim();
  if (text === '') return null;
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return /^\d{1,3}([\s,_’'])\d{3}(\1\d{3})*$/.test(text) ? Number(text.replace(/\D/g, '')) : text;
}

function groupOf(group: Record<string, string>, parts: readonly string[]): Record<string, unknown> | null {
  const values = parts.map((part) => [part, numberOf(group[part] ?? '') ?? undefined] as const);
  return values.every(([, value]) => value === undefined) ? null : Object.fromEntries(values);
}

export const listOf = (text: string): string[] =>
  text
    .split(/[,\n]/)
    .map((one) => one.trim())
    .filter(Boolean);

const known = (text: string): string | null => (text.trim() === '' ? null : text);
const textOf = (value: unknown): string => (typeof value === 'number' ? String(value) : '');
const yesNo = (value: boolean | undefined): YesNo => (value === undefined ? '' : value ? 'yes' : 'no');
const ofNamed = (sizes: Record<string, number>, named: readonly string[]): Record<string, number> =>
  Object.fromEntries(Object.entries(sizes).filter(([name]) => named.includes(name)));

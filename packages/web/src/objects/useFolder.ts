import type { StorageObject } from '@stagi/contract/storages.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../api/messages.ts';
import { useAddressParams } from '../navigation/useAddressParams.ts';
import type { ObjectSource } from './objectSource.ts';

/** Rows at first, and those that one call lists at most. */
const PAGE = 100;
const AT_ONCE = 1_000;

/** A row of the listing: a folder's key is its prefix, which ends in `/`. */
export type Row = { kind: 'folder'; key: string } | { kind: 'object'; key: string; object: StorageObject };

/** What the address shows: a folder, what names in it begin with, and an object beside it. Links carry `kept` too. */
export function useObjectAddress(kept: Record<string, string> = {}) {
  const [params, changeParams] = useAddressParams();
  const folder = params.get('prefix') ?? '';
  return {
    folder,
    search: params.get('q') ?? '',
    opened: params.get('object'),
    toFolder: (prefix: string) => `?${new URLSearchParams({ ...kept, ...(prefix !== '' && { prefix }) })}`,
    toObject(key: string): string {
      const next = new URLSearchParams(params);
      next.set('object', key);
      return `?${next}`;
    },
    closeObject: () => change('object', ''),
    setSearch: (search: string) => change('q', search),
  };

  function change(name: string, value: string): void {
    changeParams((next) => (value === '' ? next.delete(name) : next.set(name, value)), { replace: true });
  }
}

/** The folder's rows from its first on, in the order of their keys. `loadMore` lists some more. */
export function useFolder(source: ObjectSource, folder: string, search: string) {
  const prefix = folder + search;
  const [wanted, setWanted] = useState({ prefix, count: PAGE });
  const count = wanted.prefix === prefix ? wanted.count : PAGE;
  const query = useQuery({
    queryKey: [source.path, { id: source.id, part: source.part, prefix, count }] as const,
    queryFn: ({ signal }) => listObjects(source, prefix, count, signal),
    // What is listed stays while more is read.
    placeholderData: (before, query) => {
      const { id, part, prefix: shown } = query?.queryKey[1] ?? {};
      return id === source.id && part === source.part && shown === prefix ? before : undefined;
    },
    enabled: source.isReadable,
    meta: { quiet: true },
  });
  return {
    rows: query.data && rowsOf(query.data, folder),
    error: query.error ? errorText(query.error) : null,
    isMore: query.data?.isMore ?? false,
    loadMore: () => setWanted({ prefix, count: count === PAGE ? AT_ONCE : count + AT_ONCE }),
    loadingMore: query.isPlaceholderData,
    refresh: () => void query.refetch(),
    refreshing: query.isFetching,
  };
}

interface Listing {
  folders: string[];
  objects: StorageObject[];
  isMore: boolean;
}

async function listObjects(source: ObjectSource, prefix: string, count: number, signal: AbortSignal): Promise<Listing> {
  const all: Listing = { folders: [], objects: [], isMore: false };
  let after: string | undefined;
  for (let left = count; left > 0; left -= AT_ONCE) {
    const limit = Math.min(left, AT_ONCE);
    const page = await source.list({ prefix, after, limit }, signal);
    all.folders.push(...page.folders);
    all.objects.push(...page.objects);
    all.isMore = page.next !== null;
    after = page.next ?? undefined;
    if (!all.isMore) break;
  }
  return all;
}

/** Folders first. The empty object that stands for the folder itself is not shown inside it. */
function rowsOf({ folders, objects }: Listing, folder: string): Row[] {
  const shown = objects.filter(({ key, sizeBytes }) => key !== folder || sizeBytes > 0);
  return [
    ...folders.map((key) => ({ kind: 'folder' as const, key })),
    ...shown.map((object) => ({ kind: 'object' as const, key: object.key, object })),
  ];
}

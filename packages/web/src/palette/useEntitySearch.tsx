import { api } from '@stagi/contract/api.ts';
import type { Call } from '@stagi/contract/call.ts';
import type { ListInput } from '@stagi/contract/page.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconBox, IconDatabase, IconGitBranch, IconPlayerPlay, IconServer2, IconServerBolt } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { z } from 'zod';
import { canOpen } from '../access/permissionChecks.ts';
import { q } from '../api/query.ts';
import { useUserState } from '../api/user.ts';
import { paths } from '../paths.ts';
import { projectStatus } from '../ui/projectStatus.ts';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import type { PaletteGroup, PaletteItem } from './paletteItems.tsx';

const SHOWN = 5;

interface Named {
  id: number;
  title: string;
  slug: string;
  status: string;
}
type ListCall<Row extends Named = Named> = Call<typeof ListInput, z.ZodType<{ entities: Row[] }>>;

/** Servers, storages, containers, projects and tasks whose title or Unique ID holds what was typed. */
export function useEntitySearch(query: string): { items: PaletteItem[]; searching: boolean } {
  const state = useUserState();
  const permissions = state.is === 'signed-in' ? state.user.permissions : [];
  const here = state.is === 'signed-in' && state.user.workspace !== null;
  const rented = useFound(api.instances.list, query, here && canOpen(ROUTES.instance, permissions));
  const own = useFound(api.selfHosted.list, query, here && canOpen(ROUTES.selfInstance, permissions));
  const storages = useFound(api.storages.list, query, here && canOpen(ROUTES.storage, permissions));
  const containers = useFound(api.containers.list as ListCall, query, here && canOpen(ROUTES.container, permissions));
  const projects = useFound(api.projects.list, query, here && canOpen(ROUTES.project, permissions));
  const tasks = useFound(api.tasks.list as ListCall, query, here && canOpen(ROUTES.task, permissions));
  return {
    items: [
      ...rented.found.map((one) => item(one, 'servers', paths.instance(one.id), <IconServerBolt />)),
      ...own.found.map((one) => item(one, 'servers', paths.selfInstance(one.id), <IconServer2 />)),
      ...storages.found.map((one) => item(one, 'storages', paths.storage(one.id), <IconDatabase />)),
      ...containers.found.map((one) => item(one, 'containers', paths.container(one.id), <IconBox />)),
      ...projects.found.map((one) =>
        item({ ...one, status: projectStatus(one) }, 'projects', paths.project(one.id), <IconGitBranch />),
      ),
      ...tasks.found.map((one) => item(one, 'tasks', paths.task(one.id), <IconPlayerPlay />)),
    ],
    searching: [rented, own, storages, containers, projects, tasks].some(({ searching }) => searching),
  };
}

function useFound<Row extends Named>(
  list: ListCall<Row>,
  query: string,
  allowed: boolean,
): { found: readonly Row[]; searching: boolean } {
  const input = { entityFilterRequest: { limit: SHOWN, queryString: query } };
  const enabled = allowed && query !== '';
  const { data, isFetching, isPlaceholderData } = useQuery({
    ...q(list, input, { quiet: true }),
    enabled,
    placeholderData: keepPreviousData,
  });
  return {
    found: enabled ? (data?.entities ?? []) : [],
    searching: enabled && isFetching && (!data || isPlaceholderData),
  };
}

function item({ title, slug, status }: Named, group: PaletteGroup, to: string, icon: ReactNode): PaletteItem {
  return { id: to, group, label: title, words: slug, detail: <StatusBadge status={status} />, icon, does: { to } };
}

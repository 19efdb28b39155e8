import type { EntityFilterRequest } from '@stagi/contract/page.ts';
import type { OperatedProvider } from '@stagi/contract/providers.ts';
import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/schema.ts';
import { offsetOf, pageOf, sortColumn } from '../http/paging.ts';
import { allCloudSnapshots, type CloudSnapshot } from '../marketplace/cloudSnapshots.ts';
import { presentState } from '../marketplace/offers.ts';
import { newestChecks } from './providerCheck.ts';

const SORTABLE = { title: 'title', openInstances: 'openInstances', strays: 'strays', offers: 'offers' } as const;
/** Clouds have no creation time: this is the order of the configuration. */
const AS_CONFIGURED = 'createdAt';

/** There are only a few clouds, so they are filtered and sorted here. `statuses` filters by state. */
export async function listProviders(ctx: Pick<Context, 'db' | 'providers' | 'log'>, request: EntityFilterRequest) {
  const { statuses, queryString, orderByField, orderByDirection } = request;
  const key = orderByField === AS_CONFIGURED ? null : sortColumn(request, SORTABLE);
  const words = queryString?.toLowerCase() ?? '';
  const matching = (await allCloudSnapshots(ctx)).filter(
    ({ provider, readiness }) =>
      (!statuses?.length || statuses.includes(readiness.state)) &&
      `${provider.name} ${provider.title}`.toLowerCase().includes(words),
  );
  const names = matching.map(({ provider }) => provider.name);
  const [counts, errors, checks] =
    names.length === 0
      ? [new Map(), new Map(), new Map()]
      : await Promise.all([countsOf(ctx.db, names), lastErrors(ctx.db, names), newestChecks(ctx.db, names)]);
  const all = matching.map(
    (snapshot): OperatedProvider => ({
      ...presentProvider(snapshot),
      ...(counts.get(snapshot.provider.name) ?? { openInstances: 0, strays: 0 }),
      lastError: errors.get(snapshot.provider.name) ?? null,
      check: checks.get(snapshot.provider.name) ?? null,
    }),
  );
  if (key) all.sort((a, b) => compare(a[key], b[key]) * (orderByDirection === 'asc' ? 1 : -1));
  const first = offsetOf(request);
  return pageOf(all.slice(first, first + request.limit), all.length, request);
}

const compare = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en');

function presentProvider({ provider, readiness, offers, seenAt }: CloudSnapshot) {
  const { traits } = provider;
  return {
    ...presentState({ provider, readiness, offers, seenAt }),
    seenAt: seenAt.toISOString(),
    simulated: provider.simulated ?? false,
    offers: offers.length,
    can: { stop: traits.canStop, reboot: provider.reboot !== undefined },
    billedWhenStopped: traits.billedWhenStopped,
    readiness: traits.readiness,
    hostUsername: traits.hostUsername,
    deadlineSeconds: Math.round(traits.deadlineMs / 1000),
    limit: traits.limit ?? null,
  };
}

async function countsOf(db: Db, names: readonly string[]) {
  const { rows } = await sql<{ provider: string; openInstances: number; strays: number }>`
    select provider, sum(open)::int as "openInstances", sum(stray)::int as strays from (
      select provider, 1 as open, 0 as stray from instance
        where kind = 'rented' and closed_at is null and provider = any(${names}::text[])
      union all
      select provider, 0, 1 from stray where gone_at is null and provider = any(${names}::text[])) as each
    group by provider`.execute(db);
  return new Map(rows.map(({ provider, ...counts }) => [provider, counts]));
}

async function lastErrors(db: Db, names: readonly string[]) {
  const { rows } = await sql<{
    provider: string;
    at: Date;
    action: string;
    message: string;
    instanceId: number;
    slug: string;
  }>`
    select named.provider, failed.* from unnest(${names}::text[]) as named (provider), lateral (
      select op.finished_at as at, op.kind as action, op.error as message, i.id as "instanceId", i.slug
      from provider_op op join instance i on i.id = op.instance_id
      where op.state = 'failed' and op.error is not null and i.provider = named.provider
      order by op.finished_at desc limit 1) as failed`.execute(db);
  return new Map(rows.map(({ provider, at, ...error }) => [provider, { at: at.toISOString(), ...error }]));
}

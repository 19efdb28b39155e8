import type { Instance, RentedStatus } from '@stagi/contract/instances.ts';
import { hostTerminalRefusal } from '@stagi/contract/terminals.ts';
import { presentPrice } from '../billing/price.ts';
import type { Context } from '../context.ts';
import { type InstanceView, instanceVersion } from './find.ts';

/** After this many failed attempts in a row the last error is shown. */
const ATTEMPTS_BEFORE_REASON = 3;
const STEPS = ['capacity', 'booting', 'daemon', 'ready'] as const;

export function presentInstance(ctx: Pick<Context, 'config' | 'providers'>, row: InstanceView): Instance {
  const offer = row.offer;
  if (!offer || !row.provider || row.price_per_hour === null) throw new Error(`instance ${row.id} is not a rented one`);
  return {
    ...presentCommon(row, Math.min(row.facts?.cpus ?? Number.POSITIVE_INFINITY, offer.cpu.cores)),
    status: row.status as RentedStatus,
    createdBy: row.creator,
    provider: row.provider,
    providerTitle: ctx.providers.get(row.provider)?.title ?? row.provider,
    region: offer.region,
    ip: row.ip,
    hostUsername: row.host_username ?? 'root',
    pricePerHour: presentPrice(ctx.config, row.price_per_hour),
    stoppedPricePerHour: presentPrice(ctx.config, row.stopped_price_per_hour ?? 0n),
    canStop: offer.canStop,
    cpu: offer.cpu,
    ramGb: offer.ramGb,
    gpu: offer.gpu,
    disk: offer.disk,
    logBucket: presentLogBucket(row),
    progress: STEPS.map((step) => ({ step, at: row.progress[step] ?? null })),
  };
}

function presentLogBucket({ log_storage_id, log_size_gb, log_used_bytes }: InstanceView): Instance['logBucket'] {
  if (log_storage_id === null || log_size_gb === null) return null;
  return { storageId: log_storage_id, usedBytes: Number(log_used_bytes ?? 0n), sizeGb: log_size_gb };
}

/** Fields that rented and self-hosted servers share. */
export function presentCommon(row: InstanceView, cpus: number | null) {
  return {
    id: row.id,
    slug: row.slug,
    title: row.title,
    version: instanceVersion(row),
    statusSince: row.status_since.toISOString(),
    statusSeenAt: iso(row.status_seen_at),
    statusDeadline: iso(row.status_deadline),
    statusReason: row.status_reason ?? (row.attempts >= ATTEMPTS_BEFORE_REASON ? row.last_error : null),
    createdAt: row.created_at.toISOString(),
    daemonSeenAt: iso(row.node_seen_at),
    daemonVersion: row.node_version,
    facts: row.facts,
    containerCount: row.container_count,
    terminalRefusal: hostTerminalRefusal({ status: row.status, features: row.node_features ?? [] }),
    freeCpus: cpus === null ? null : Math.round((cpus - Number(row.promised_cpus ?? 0)) * 10) / 10,
  };
}

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

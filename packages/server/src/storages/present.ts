import { HOURS_PER_MONTH, S3_REGION } from '@stagi/contract/storageRules.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { presentPrice } from '../billing/price.ts';
import type { Context } from '../context.ts';
import { versionOf } from '../http/editVersion.ts';
import type { StorageView } from './find.ts';
import { locationTitle } from './locations.ts';

/** After this many failed attempts in a row the last error is shown. */
const ATTEMPTS_BEFORE_REASON = 3;

export function presentStorage(ctx: Pick<Context, 'config' | 's3MachineOrigin'>, row: StorageView): Storage {
  return {
    id: row.id,
    kind: row.kind,
    slug: row.slug,
    title: row.title,
    status: row.status,
    statusSince: row.status_since.toISOString(),
    statusDeadline: row.status_deadline?.toISOString() ?? null,
    statusReason: row.status_reason ?? (row.attempts >= ATTEMPTS_BEFORE_REASON ? row.last_error : null),
    createdAt: row.created_at.toISOString(),
    createdBy: row.creator,
    bucket: row.bucket ?? row.slug,
    endpoint: ctx.config.s3Origin,
    machineEndpoint: ctx.s3MachineOrigin,
    region: S3_REGION,
    location: row.location,
    locationTitle: locationTitle(ctx.config, row.location),
    sizeGb: row.size_gb,
    usedBytes: Number(row.used_bytes),
    objectCount: Number(row.object_count),
    pricePerMonth: presentPrice(ctx.config, row.price_per_month),
    pricePerHour: presentPrice(ctx.config, row.price_per_month / BigInt(HOURS_PER_MONTH)),
    readOnly: row.read_only,
    deletedAt: row.deleted_at?.toISOString() ?? null,
    taskCount: row.task_count,
    instance: row.instance,
    version: storageVersion(row),
  };
}

/** The version of what an edit changes. */
export const storageVersion = ({ title, size_gb }: StorageView): string => versionOf({ title, size_gb });

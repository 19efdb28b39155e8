import { isBucketName } from '@stagi/s3/request.ts';
import { createS3Service } from '@stagi/s3/service.ts';
import type { Context } from '../context.ts';
import { isOverload } from '../http/errors.ts';
import { isAddress, nameOf } from '../http/hostOf.ts';
import { createHostRefusal, namesOf } from '../http/hostRefusal.ts';
import { listenAt } from '../http/listenAt.ts';
import { STRICT_TRANSPORT } from '../http/plainHeaders.ts';
import { logRefusal } from '../http/refusalLog.ts';
import { createBackend } from './backend.ts';
import { createConnectionSlots } from './connectionSlots.ts';
import { noteLastUse } from './lastUsed.ts';
import { startRemoval } from './removal.ts';
import { startRepair } from './repair.ts';

export interface ObjectService {
  listen(host: string, port: number): Promise<void>;
  close(): Promise<void>;
}

/** The S3 service of this process, and the loops that keep bytes and rows in agreement. */
export function serveObjects(ctx: Context): ObjectService {
  const lastUsed = noteLastUse(ctx);
  const loops = [startRepair(ctx), startRemoval(ctx)];
  const refusalOf = createHostRefusal(ctx);
  const service = createS3Service({
    backend: createBackend(ctx),
    listenAt,
    slots: createConnectionSlots(ctx),
    virtualHosts: () => namesOfS3(ctx).filter((name) => !isAddress(name)),
    refusalOf: (host) => (isS3Host(ctx, nameOf(host.toLowerCase())) ? null : refusalOf(host).message),
    strictTransport: ctx.config.s3Origin.startsWith('https:') ? STRICT_TRANSPORT : null,
    allowedOrigins: [ctx.config.appOrigin],
    log: ctx.log,
    onUse: lastUsed.note,
    onForbidden: ({ code, ip, key }) =>
      logRefusal(ctx.log, { at: 's3', ip, reason: code, ...(key && { accessKey: key }) }),
    onEnd: ({ operation, status, seconds, received, sent }) =>
      ctx.meters.s3Answered(operation, status, seconds, received, sent),
    isUnavailable: isOverload,
    now: () => ctx.clock.now(),
  });
  return {
    listen: service.listen,
    async close() {
      await service.close();
      await Promise.all(loops.map((loop) => loop.stop()));
      await lastUsed.stop();
    },
  };
}

// The gateway of the local cloud is known only once Docker answers.
const namesOfS3 = ({ config, s3MachineOrigin }: Context): string[] => [
  ...namesOf(config.s3Origin),
  ...namesOf(s3MachineOrigin),
  new URL(config.s3InternalOrigin).hostname,
  ...config.allowedHosts,
];

/** A bucket may be labels before the names that are no addresses. */
const isS3Host = (ctx: Context, name: string): boolean =>
  namesOfS3(ctx).some(
    (known) =>
      name === known ||
      (!isAddress(known) && name.endsWith(`.${known}`) && isBucketName(name.slice(0, -known.length - 1))),
  );

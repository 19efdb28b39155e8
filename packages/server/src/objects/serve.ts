import { isIP } from 'node:net';
import { createS3Service } from '@stagi/s3/service.ts';
import type { Context } from '../context.ts';
import { isOverload } from '../http/errors.ts';
import { createBackend } from './backend.ts';
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
  const service = createS3Service({
    backend: createBackend(ctx),
    virtualHosts: [ctx.config.s3Origin, ctx.s3MachineOrigin].map((origin) => new URL(origin).hostname).filter(isName),
    allowedOrigins: [ctx.config.appOrigin],
    log: ctx.log,
    onUse: lastUsed.note,
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

/** An address has no labels before it. */
const isName = (host: string): boolean => isIP(host.replace(/^\[|\]$/g, '')) === 0;

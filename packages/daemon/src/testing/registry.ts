import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** A registry with one image of two layers (OCI distribution, `/v2/`), for pulls without a network. */
export interface Registry {
  /** `127.0.0.1:PORT/thing:1`; Docker takes loopback registries without TLS. */
  image: string;
  host: string;
  /** Lets the held requests for layers continue. */
  release(): void;
  close(): Promise<void>;
}

export async function startRegistry({ held = false } = {}): Promise<Registry> {
  const gate = Promise.withResolvers<void>();
  if (!held) gate.resolve();
  // Two empty tar archives that differ, as layers do.
  const tars = [Buffer.alloc(1024), Buffer.alloc(10_240)];
  const layers = tars.map((tar) => gzipSync(tar));
  const config = Buffer.from(
    JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      // Makes each image different, as Docker would not pull the same one twice.
      created: new Date().toISOString(),
      config: { Cmd: ['/nothing'] },
      rootfs: { type: 'layers', diff_ids: tars.map(digestOf) },
    }),
  );
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
      config: {
        mediaType: 'application/vnd.docker.container.image.v1+json',
        size: config.length,
        digest: digestOf(config),
      },
      layers: layers.map((layer) => ({
        mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
        size: layer.length,
        digest: digestOf(layer),
      })),
    }),
  );
  const blobs = new Map([config, ...layers].map((blob) => [digestOf(blob), blob]));
  const server = createServer(async ({ url = '' }, response) => {
    const blob = blobs.get(url.split('/').at(-1) ?? '');
    if (url === '/v2/') response.end('{}');
    else if (/^\/v2\/thing\/manifests\/(1|sha256:.*)$/.test(url)) {
      response.setHeader('content-type', 'application/vnd.docker.distribution.manifest.v2+json');
      response.setHeader('docker-content-digest', digestOf(manifest));
      response.setHeader('content-length', manifest.length);
      response.end(manifest);
    } else if (blob) {
      if (blob !== config) await gate.promise;
      response.setHeader('content-length', blob.length);
      response.end(blob);
    } else {
      response.statusCode = 404;
      response.end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}');
    }
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    image: `${host}/thing:1`,
    host,
    release: gate.resolve,
    async close() {
      const closed = Promise.withResolvers<void>();
      gate.resolve();
      server.closeAllConnections();
      server.close(() => closed.resolve());
      await closed.promise;
    },
  };
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

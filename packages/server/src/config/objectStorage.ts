import { z } from 'zod';
import { ConfigError } from './configError.ts';

/** Another S3 where the bytes of buckets lie, in one bucket of its. */
const S3Location = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]{1,20}$/),
  title: z.string().min(1).max(60),
  endpoint: z.url({ protocol: /^https?$/ }),
  region: z.string().min(1).default('us-east-1'),
  bucket: z.string().min(3).max(63),
  accessKeyId: z.string().min(1),
  secretAccessKey: z.string().min(1),
});
export type S3Location = z.infer<typeof S3Location>;

/** The name of the location on this machine's disk. */
export const LOCAL_LOCATION = 'local';

/** The S3 service and the host of user-made content. */
export interface ObjectStorage {
  s3Port: number;
  /** Where browsers and people reach the S3 service. */
  s3Origin: string;
  /** Where programs on rented servers reach it; null: the host of `daemonOrigin`, with the S3 port. */
  s3MachineOrigin: string | null;
  /** Where the platform itself reaches it: no proxy, no certificate. */
  s3InternalOrigin: string;
  /** What users made is shown from this origin, which no session knows. */
  contentOrigin: string;
  /** Besides `local`, the disk. */
  s3Locations: readonly S3Location[];
  /** The location of the platform's own files: pictures and screenshots. */
  filesLocation: string;
}

type Environment = Record<string, string | undefined>;

export function readObjectStorage(
  env: Environment,
  { port, s3Port, appOrigin, listenHost }: { port: number; s3Port: number; appOrigin: string; listenHost: string },
  readOrigin: (env: Environment, name: string) => string | null,
): ObjectStorage {
  const { protocol, hostname } = new URL(appOrigin);
  const contentOrigin = readOrigin(env, 'CONTENT_ORIGIN') ?? `http://content.localhost:${port}`;
  if (new URL(contentOrigin).host === new URL(appOrigin).host)
    throw new ConfigError('CONTENT_ORIGIN', 'must differ from APP_ORIGIN: it serves what users uploaded');
  const s3Locations = locations(env.S3_LOCATIONS);
  const filesLocation = env.FILES_LOCATION || LOCAL_LOCATION;
  if (filesLocation !== LOCAL_LOCATION && !s3Locations.some(({ name }) => name === filesLocation))
    throw new ConfigError('FILES_LOCATION', `must be "${LOCAL_LOCATION}" or the name of one of S3_LOCATIONS`);
  return {
    s3Port,
    s3Origin: readOrigin(env, 'S3_ORIGIN') ?? `${protocol}//${hostname}:${s3Port}`,
    s3MachineOrigin: readOrigin(env, 'S3_MACHINE_ORIGIN'),
    s3InternalOrigin: internalOrigin(env.S3_INTERNAL_ORIGIN) ?? `http://${listenHost}:${s3Port}`,
    contentOrigin,
    s3Locations,
    filesLocation,
  };
}

/** It lies within the operator's own network, so it may do without TLS. */
function internalOrigin(text: string | undefined): string | null {
  if (!text) return null;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new ConfigError('S3_INTERNAL_ORIGIN', `must be an address like http://10.0.0.5:4401, not "${text}"`);
  return new URL(text).origin;
}

function locations(text: string | undefined): S3Location[] {
  if (!text) return [];
  try {
    const found = z.array(S3Location).parse(JSON.parse(text));
    const names = [LOCAL_LOCATION, ...found.map(({ name }) => name)];
    if (new Set(names).size < names.length) throw new Error('names must differ, and from "local"');
    return found;
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new ConfigError(
      'S3_LOCATIONS',
      `must be a JSON list of {name, title, endpoint, region?, bucket, accessKeyId, secretAccessKey} (${reason})`,
    );
  }
}

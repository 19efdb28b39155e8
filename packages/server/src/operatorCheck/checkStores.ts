import type { Config } from '../config/config.ts';
import type { S3Location } from '../config/objectStorage.ts';
import { probeLocation } from '../objects/buckets.ts';
import { openS3Store } from '../objects/s3Store.ts';
import { type Finding, ok, problem, reasonOf } from './finding.ts';

/** Writes an object to each of S3_LOCATIONS, reads it and removes it. */
export async function checkStores({ s3Locations }: Pick<Config, 's3Locations'>): Promise<Finding[]> {
  return Promise.all(s3Locations.map(checkStore));
}

async function checkStore(location: S3Location): Promise<Finding> {
  const about = `S3 location ${location.name}`;
  const store = openS3Store(location);
  try {
    await probeLocation({ blobs: new Map([[location.name, store]]) }, location.name);
    return ok(about, `bucket ${location.bucket} at ${location.endpoint}`);
  } catch (error) {
    return problem(about, `bucket ${location.bucket}: ${reasonOf(error)}. Check S3_LOCATIONS`);
  } finally {
    store.close();
  }
}

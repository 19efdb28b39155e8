import { text } from '@stagi/contract/text.ts';
import type { Config } from '../config/config.ts';
import { LOCAL_LOCATION } from '../config/objectStorage.ts';

/** Where a storage may lie: the disk of this platform, and each of S3_LOCATIONS. */
export function locationsOf({ s3Locations }: Pick<Config, 's3Locations'>): { name: string; title: string }[] {
  return [
    { name: LOCAL_LOCATION, title: text('This platform') },
    ...s3Locations.map(({ name, title }) => ({ name, title })),
  ];
}

/** The name stands for a location that is no longer configured. */
export const locationTitle = (config: Pick<Config, 's3Locations'>, name: string): string =>
  locationsOf(config).find((location) => location.name === name)?.title ?? name;

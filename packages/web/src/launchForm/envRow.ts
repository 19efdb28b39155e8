import { randomId } from '@stagi/contract/randomId.ts';

/**
 * `kept`: an empty value is that of the container or task which the new one is made of, which is not shown. `needed`: a
 * template has left the value open.
 */
export interface EnvRow {
  /** Tells rows apart while they are edited. */
  key: string;
  name: string;
  value: string;
  kept?: boolean;
  needed?: boolean;
  /** Of containers: the value is masked in logs and never becomes part of a template. */
  secret?: boolean;
  /** The value that is kept is secret. */
  keptSecret?: boolean;
}

export const newEnvRow = (name = '', value = ''): EnvRow => ({ key: randomId(), name, value });

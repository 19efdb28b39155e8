import type { Storage } from '@stagi/contract/storages.ts';

export function KeysTab({ storage }: { storage: Storage }) {
  return <p>{storage.bucket}</p>;
}

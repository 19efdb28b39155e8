import type { Storage } from '@stagi/contract/storages.ts';
import { UseBar } from '../UseBar.tsx';

export function StorageOverview({ storage }: { storage: Storage }) {
  return <UseBar storage={storage} />;
}

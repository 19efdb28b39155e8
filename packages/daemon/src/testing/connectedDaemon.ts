import { createDaemon, type TestDaemon } from './daemon.ts';
import { type FakePlatform, startFakePlatform } from './platform.ts';

/** A daemon that is connected to a platform of its own. */
export async function startConnectedDaemon(node: string): Promise<{ platform: FakePlatform; daemon: TestDaemon }> {
  const platform = await startFakePlatform({ node });
  const daemon = await createDaemon(platform);
  daemon.start();
  await platform.until('a hello', () => platform.received.find(({ type }) => type === 'hello'));
  return { platform, daemon };
}

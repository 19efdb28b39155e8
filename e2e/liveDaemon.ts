import { connectDaemon, type NodeKey, type TestDaemon } from '@stagi/server/src/testing/daemon.ts';

const HEARTBEAT_MS = 5_000;

/**
 * A test daemon that sends heartbeats until its link is closed, as a real one does. A story on a slow machine takes
 * longer than the silence after which a server counts as unresponsive.
 */
export async function connectLiveDaemon(
  url: string,
  key: NodeKey,
  options?: Parameters<typeof connectDaemon>[2],
): Promise<TestDaemon> {
  const daemon = await connectDaemon(url, key, options);
  const beat = setInterval(() => daemon.send({ type: 'heartbeat', at: new Date().toISOString() }), HEARTBEAT_MS);
  daemon.socket.once('close', () => clearInterval(beat));
  return daemon;
}

/**
 * Many daemons without Docker in one process, for a thundering herd: each connects, authenticates and reconnects with the
 * code of the real one, and reports every desired state as reached. Started with `fork` and controlled by messages.
 */
import type { Inventory } from '@stagi/contract/daemon.ts';
import { LINK_PROTOCOL } from '@stagi/contract/daemon.ts';
import { keepConnected } from '@stagi/daemon/src/connection.ts';
import { verifyDesired } from '@stagi/daemon/src/desiredState.ts';
import { fixedKey } from '@stagi/daemon/src/testing/fixedKey.ts';
import { enrolNode, FACTS } from '@stagi/server/src/testing/daemon.ts';

export type HerdNews =
  | { kind: 'enrolled'; count: number }
  /** The link is connected, and its hello was sent. */
  | { kind: 'up'; node: string; at: number }
  | { kind: 'down'; node: string; at: number }
  /** A desired state arrived with a valid signature and this many keys. */
  | { kind: 'desired'; node: string; at: number; gen: number; keys: number }
  | { kind: 'wrong'; what: string };

export type HerdOrder = { kind: 'join'; url: string; tokens: string[] } | { kind: 'stop' };

/** Milliseconds since 1970 by a clock that all processes of this machine share, finer than `Date`. */
export const preciseNow = (): number => performance.timeOrigin + performance.now();

const ENROL_AT_ONCE = 10;

if (import.meta.main) {
  const stopping = new AbortController();
  process.on('message', (order: HerdOrder) => {
    if (order.kind === 'stop') stopping.abort();
    else void join(order.url, order.tokens, stopping.signal);
  });
  // The parent process is gone.
  process.on('disconnect', () => process.exit(0));
}

function tell(news: HerdNews): void {
  process.send?.(news);
}

async function join(url: string, tokens: string[], signal: AbortSignal): Promise<void> {
  try {
    const waiting = [...tokens];
    const nodes: Awaited<ReturnType<typeof enrolNode>>[] = [];
    const enrolSome = async (): Promise<void> => {
      for (let token = waiting.pop(); token; token = waiting.pop()) nodes.push(await enrolNode(url, token));
    };
    await Promise.all(Array.from({ length: ENROL_AT_ONCE }, enrolSome));
    tell({ kind: 'enrolled', count: nodes.length });
    await Promise.all(nodes.map((node) => live(url, node, signal)));
  } catch (error) {
    tell({ kind: 'wrong', what: String(error) });
  }
  process.exit(0);
}

async function live(url: string, key: Awaited<ReturnType<typeof enrolNode>>, signal: AbortSignal): Promise<void> {
  const { node } = key;
  const identity = { node, origin: url, commandKey: key.commandKey, kind: 'rented' as const, jti: node };
  const inventory: Inventory = { appliedGen: 0, containers: [], images: [], dockerError: null, sshKeys: null };
  const ended = await keepConnected(
    identity,
    fixedKey(key.privateKey),
    {
      async onWelcome(session, { heartbeatSeconds }) {
        session.send({
          type: 'hello',
          protocol: LINK_PROTOCOL,
          version: '0.1.0',
          bootId: 'b',
          facts: FACTS,
          inventory,
        });
        tell({ kind: 'up', node, at: preciseNow() });
        const beat = setInterval(
          () => session.send({ type: 'heartbeat', at: new Date().toISOString() }),
          heartbeatSeconds * 1000,
        );
        session.signal.addEventListener('abort', () => {
          clearInterval(beat);
          tell({ kind: 'down', node, at: preciseNow() });
        });
      },
      onMessage(message, session) {
        if (message.type !== 'desired') return;
        const at = preciseNow();
        verifyDesired(message.document, identity).then(
          ({ gen, sshKeys }) => {
            if (gen <= inventory.appliedGen) return;
            inventory.appliedGen = gen;
            inventory.sshKeys = sshKeys;
            session.send({ type: 'inventory', inventory });
            tell({ kind: 'desired', node, at, gen, keys: sshKeys?.length ?? -1 });
          },
          (error: unknown) => tell({ kind: 'wrong', what: `${node}: ${String(error)}` }),
        );
      },
    },
    signal,
  );
  if (ended === 'revoked') tell({ kind: 'wrong', what: `${node} was revoked` });
}

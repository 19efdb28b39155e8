import { type Inventory, LINK_PROTOCOL, type PlatformMessage } from '@stagi/contract/daemon.ts';
import { commandRunner } from './commands.ts';
import { type Party, stayConnected } from './connection.ts';
import { pause } from './deadline.ts';
import { openDesired, verifyCommand } from './desired.ts';
import type { Engine } from './docker.ts';
import { gatherFacts } from './facts.ts';
import { forgetIdentity, type Identity } from './identity.ts';
import { openJournal } from './journal.ts';
import type { Keyring } from './keyring.ts';
import { reasonOf, say } from './log.ts';
import { logShipper } from './logs.ts';
import { bootId } from './machine.ts';
import { openMarks } from './marks.ts';
import type { Paths } from './paths.ts';
import { startReconciler } from './reconciler.ts';
import type { Session } from './session.ts';
import { VERSION } from './version.ts';

/** The platform waits for a hello; a Docker that hangs must not keep it from hearing of us. */
const HELLO_PATIENCE_MS = 5000;
/** A list that changed nothing is told after so long all the same: it proves that the containers are as they were. */
const PROOF_MS = 25_000;
const CLOSING_MS = 3000;
const FAREWELL_MS = 500;

/** Looks after this server until the signal is aborted or, with `gone`, the platform does not want it back. */
export async function runAgent(
  { identity, keys, engine, paths }: { identity: Identity; keys: Keyring; engine: Engine; paths: Paths },
  signal: AbortSignal,
): Promise<'stopped' | 'gone'> {
  const desired = await openDesired(paths.desired, identity);
  const journal = await openJournal(paths.journal);
  const logs = logShipper(engine);
  const left = new AbortController();
  let session: Session | null = null;
  let told = '';
  let toldAt = 0;

  const world = startReconciler({
    engine,
    identity,
    paths,
    desired,
    marks: await openMarks(paths.marks),
    logs,
    report: (message) => session?.send(message),
    onInventory: tell,
  });
  const commands = commandRunner({
    journal,
    startedAt: async (containerId) => (await world.find(containerId))?.startedAt ?? null,
    restart: world.restart,
    leave: async (removeContainers) => {
      if (removeContainers) await world.removeAll();
    },
  });

  function tell(inventory: Inventory): void {
    const text = JSON.stringify(inventory);
    const isNews = text !== told;
    if (!session || (!isNews && performance.now() - toldAt < PROOF_MS)) return;
    told = text;
    toldAt = performance.now();
    session.send({ type: 'inventory', inventory });
  }

  const party: Party = {
    async welcomed(fresh, welcome, nonce) {
      const late = new AbortController();
      const looked = Promise.race([world.settled(), pause(HELLO_PATIENCE_MS, late.signal)]);
      const [facts, boot] = await Promise.all([gatherFacts(engine), bootId(), looked]);
      late.abort();
      const clock = clockWarning(welcome.serverTime);
      if (clock) facts.warnings.push(clock);
      const inventory = world.inventory();
      fresh.send({ type: 'hello', protocol: LINK_PROTOCOL, version: VERSION, bootId: boot, facts, inventory });
      session = fresh;
      told = JSON.stringify(inventory);
      toldAt = performance.now();
      for (const failure of world.standing()) fresh.send(failure);
      logs.attach(fresh);
      beat(fresh, welcome.heartbeatSeconds);
      if (welcome.rotateKey) fresh.send(await keys.offer(identity, nonce));
      world.wake();
    },
    received(message, from) {
      obey(message).catch((error: unknown) => {
        if (!from.signal.aborted) say(`"${message.type}" of the platform was not obeyed: ${reasonOf(error)}`);
      });
    },
  };

  async function obey(message: PlatformMessage): Promise<void> {
    switch (message.type) {
      case 'desired':
        if (await desired.accept(message.document)) world.wake();
        return tell(world.inventory());
      case 'command':
        return carryOut(message.document);
      case 'rotated':
        await keys.confirmed(message.x);
        return say('the key of this server was replaced');
      case 'log-resume':
      case 'credit':
      case 'log-refuse':
        return logs.receive(message);
      case 'challenge':
      case 'welcome':
      case 'revoked':
      case 'drain':
        return;
      default:
        message satisfies never;
    }
  }

  async function carryOut(document: string): Promise<void> {
    const command = await verifyCommand(document, identity);
    const result = await commands.run(command);
    if (result) session?.send(result);
    if (command.do.kind !== 'leave' || !result?.ok) return;
    await forgetIdentity(paths);
    say('this server has left the platform');
    // The answer should be out before the link is cut.
    await pause(FAREWELL_MS, signal);
    left.abort();
  }

  const ending = await stayConnected(identity, keys, party, AbortSignal.any([signal, left.signal]));
  const patience = new AbortController();
  await Promise.race([world.close(), pause(CLOSING_MS, patience.signal)]);
  patience.abort();
  await journal.close();
  return ending === 'revoked' || left.signal.aborted ? 'gone' : 'stopped';
}

/** Heartbeats as often as the platform wishes, for as long as the link lives. */
function beat(session: Session, seconds: number): void {
  const timer = setInterval(() => session.send({ type: 'heartbeat', at: new Date().toISOString() }), seconds * 1000);
  session.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

function clockWarning(serverTime: string): string | null {
  const off = Math.round((Date.now() - Date.parse(serverTime)) / 1000);
  if (Math.abs(off) < 30) return null;
  return `The clock of this server is ${Math.abs(off)} s ${off > 0 ? 'ahead' : 'behind'}: set up time synchronisation`;
}

import {
  EDIT_FEATURE,
  IMAGES_FEATURE,
  type Inventory,
  LINK_PROTOCOL,
  type PlatformMessage,
  PROTECTIONS_FEATURE,
  PULL_AUTH_FEATURE,
  TASKS_FEATURE,
  USAGE_FEATURE,
} from '@stagi/contract/daemon.ts';
import { FILES_FEATURE } from '@stagi/contract/daemonFiles.ts';
import { STREAMS_FEATURE } from '@stagi/contract/daemonStreams.ts';
import { HOST_TERMINAL_FEATURE, TERMINAL_FEATURE } from '@stagi/contract/terminals.ts';
import { text } from '@stagi/contract/text.ts';
import { openCommandJournal } from './commandJournal.ts';
import { commandRunner } from './commands.ts';
import { keepConnected, type LinkHandlers } from './connection.ts';
import { openContainerRecords } from './containerRecords.ts';
import { openDesired, verifyCommand } from './desiredState.ts';
import type { Engine } from './docker.ts';
import { gatherFacts } from './facts.ts';
import { forgetIdentity, type Identity } from './identity.ts';
import { imagesOf } from './images.ts';
import type { Keyring } from './keyring.ts';
import type { LinkSession } from './linkSession.ts';
import { errorText, log } from './log.ts';
import { logShipper } from './logShipper.ts';
import { startLoop } from './loop.ts';
import { bootId } from './machine.ts';
import type { Paths } from './paths.ts';
import { authorizeContainer, loadPolicy } from './policy.ts';
import { pullAuths } from './pullAuths.ts';
import { startReconciler } from './reconciler.ts';
import { guardSsh } from './sshGuard.ts';
import type { FileDeps } from './streams/fileStreams.ts';
import { streamHandlers } from './streams/handlers.ts';
import { createStreamServer } from './streams/streamServer.ts';
import { openTerminals } from './streams/terminal/terminals.ts';
import { sleep } from './timing.ts';
import { startSampling } from './usage/sampler.ts';
import { openUsedImages } from './usedImages.ts';
import { VERSION } from './version.ts';
import { sweepUploads } from './volumes/sweepUploads.ts';
import { openUploadRecords } from './volumes/uploadRecords.ts';

/** How long the hello waits for a look at Docker: a Docker that hangs must not delay it for longer. */
const HELLO_WAIT_MS = 5000;
/** An unchanged inventory is sent again this often: it proves that the containers are still as reported. */
const INVENTORY_REFRESH_MS = 25_000;
const SHUTDOWN_TIMEOUT_MS = 3000;
const LEAVE_ANSWER_MS = 500;
const FEATURES = [
  TASKS_FEATURE,
  STREAMS_FEATURE,
  EDIT_FEATURE,
  IMAGES_FEATURE,
  TERMINAL_FEATURE,
  FILES_FEATURE,
  USAGE_FEATURE,
  PROTECTIONS_FEATURE,
];
const SWEEP_UPLOADS_MS = 3_600_000;
const GUARD_SSH_MS = 30_000;

/** Runs the daemon until the signal is aborted (`stopped`), or until this server was revoked or has left (`gone`). */
export async function runAgent(
  { identity, keys, engine, paths }: { identity: Identity; keys: Keyring; engine: Engine; paths: Paths },
  signal: AbortSignal,
): Promise<'stopped' | 'gone'> {
  const desired = await openDesired(paths.desired, identity);
  const journal = await openCommandJournal(paths.journal);
  const usedImages = await openUsedImages(paths.usedImages);
  const images = imagesOf({ engine, kind: identity.kind, used: usedImages, desired: desired.current });
  const auths = pullAuths();
  const logs = logShipper(engine);
  const leaving = new AbortController();
  let session: LinkSession | null = null;
  let reported = '';
  let reportedAt = 0;

  const reconciler = startReconciler({
    engine,
    identity,
    paths,
    desired,
    records: await openContainerRecords(paths.containerRecords),
    logs,
    images,
    usedImages,
    pullAuth: auths.ask,
    report: (message) => session?.send(message),
    onInventory: reportInventory,
  });
  const policy = () => loadPolicy(paths, identity.kind);
  const terminals = await openTerminals(engine, paths.terminals);
  const dockerIdOf = async (id: number) => (await reconciler.find(id))?.dockerId ?? null;
  const files: FileDeps = {
    desired,
    uploads: await openUploadRecords(paths.uploads),
    authorize: async (container) => authorizeContainer(container, await policy(), paths),
  };
  const sweep = startLoop(() => sweepUploads(files), { everyMs: SWEEP_UPLOADS_MS, gapMs: SWEEP_UPLOADS_MS });
  sweep.wake();
  const guard = startLoop(async () => void (await guardSsh()), { everyMs: GUARD_SSH_MS, gapMs: GUARD_SSH_MS });
  guard.wake();
  const streams = createStreamServer(
    identity,
    streamHandlers({
      ...files,
      actual: () => reconciler.inventory().containers,
      terminal: { engine, terminals, policy, dockerIdOf },
    }),
  );
  const commands = commandRunner({
    journal,
    startedAt: async (containerId) => (await reconciler.find(containerId))?.startedAt ?? null,
    restart: reconciler.restart,
    leave: async (removeContainers) => {
      if (removeContainers) await reconciler.removeAll();
    },
    removeImage: images.remove,
    pruneImages: images.prune,
  });

  function reportInventory(inventory: Inventory): void {
    const text = JSON.stringify(inventory);
    const isChanged = text !== reported;
    if (!session || (!isChanged && performance.now() - reportedAt < INVENTORY_REFRESH_MS)) return;
    reported = text;
    reportedAt = performance.now();
    session.send({ type: 'inventory', inventory });
  }

  const handlers: LinkHandlers = {
    async onWelcome(fresh, welcome, nonce) {
      const timeout = new AbortController();
      const firstPass = Promise.race([reconciler.nextPass(), sleep(HELLO_WAIT_MS, timeout.signal)]);
      const [facts, boot, ssh] = await Promise.all([gatherFacts(engine), bootId(), guardSsh(), firstPass]);
      timeout.abort();
      facts.volumeRoots = await volumeRoots();
      // A damaged policy allows nothing.
      const { capabilities } = await policy().catch(() => ({ capabilities: 'hardened' as const }));
      facts.launch = { init: facts.launch?.init ?? false, capabilities };
      facts.warnings.push(...[ssh, clockWarning(welcome.serverTime)].filter((warning) => warning !== null));
      const inventory = reconciler.inventory();
      fresh.send({
        type: 'hello',
        protocol: LINK_PROTOCOL,
        version: VERSION,
        bootId: boot,
        features: await features(),
        facts,
        inventory,
        remembered: reconciler.remembered(),
      });
      session = fresh;
      auths.attach(fresh, welcome.features?.includes(PULL_AUTH_FEATURE) ?? false);
      reported = JSON.stringify(inventory);
      reportedAt = performance.now();
      for (const failure of reconciler.openFailures()) fresh.send(failure);
      logs.attach(fresh);
      startHeartbeats(fresh, welcome.heartbeatSeconds);
      if (welcome.sampleSeconds !== undefined)
        startSampling(
          { engine, containers: () => reconciler.inventory().containers, dataRoot },
          {
            everyMs: welcome.sampleSeconds * 1000,
            send: (sample) => fresh.sendIfIdle({ type: 'usage', sample }),
            signal: fresh.signal,
          },
        );
      if (welcome.rotateKey) fresh.send(await keys.startRotation(identity, nonce));
      reconciler.wake();
    },
    onMessage(message, from) {
      handleMessage(message, from).catch((error: unknown) => {
        if (!from.signal.aborted) log(`"${message.type}" of the platform could not be handled: ${errorText(error)}`);
      });
    },
  };

  /** A damaged policy allows nothing; whoever wants something of this server is told why. */
  async function features(): Promise<string[]> {
    const { hostTerminal } = await policy().catch(() => ({ hostTerminal: false }));
    return hostTerminal ? [...FEATURES, HOST_TERMINAL_FEATURE] : FEATURES;
  }

  /** The folders that directories of containers may lie below. */
  async function volumeRoots(): Promise<string[]> {
    return policy().then(
      (allowed) => allowed.volumeRoots,
      // A damaged policy allows no directory; the containers that want one tell why.
      () => [],
    );
  }

  async function dataRoot(): Promise<string | null> {
    return (await volumeRoots())[0] ?? null;
  }

  async function handleMessage(message: PlatformMessage, from: LinkSession): Promise<void> {
    switch (message.type) {
      case 'desired':
        if (await desired.accept(message.document)) reconciler.wake();
        return reportInventory(reconciler.inventory());
      case 'command':
        return runCommand(message.document);
      case 'rotated':
        await keys.finishRotation(message.x);
        return log('the key of this server was replaced');
      case 'log-resume':
      case 'credit':
      case 'log-refuse':
        return logs.receive(message);
      case 'pull-auth':
        return auths.receive(message);
      case 'streams':
        return streams.dial(message.ticket, message.epoch, from.signal);
      case 'challenge':
      case 'welcome':
      case 'revoked':
      case 'drain':
        return;
      default:
        message satisfies never;
    }
  }

  async function runCommand(document: string): Promise<void> {
    const command = await verifyCommand(document, identity);
    const result = await commands.run(command);
    if (result) session?.send(result);
    if (command.do.kind !== 'leave' || !result?.ok) return;
    await forgetIdentity(paths);
    log('this server has left the platform');
    // Lets the answer go out before the link is closed.
    await sleep(LEAVE_ANSWER_MS, signal);
    leaving.abort();
  }

  const ending = await keepConnected(identity, keys, handlers, AbortSignal.any([signal, leaving.signal]));
  const timeout = new AbortController();
  await Promise.race([
    Promise.all([reconciler.close(), terminals.close()]),
    sleep(SHUTDOWN_TIMEOUT_MS, timeout.signal),
  ]);
  timeout.abort();
  sweep.stop();
  guard.stop();
  await journal.close();
  return ending === 'revoked' || leaving.signal.aborted ? 'gone' : 'stopped';
}

/** Sends heartbeats at the interval that the platform asked for, until the link is closed. */
function startHeartbeats(session: LinkSession, seconds: number): void {
  const timer = setInterval(() => session.send({ type: 'heartbeat', at: new Date().toISOString() }), seconds * 1000);
  session.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

function clockWarning(serverTime: string): string | null {
  const off = Math.round((Date.now() - Date.parse(serverTime)) / 1000);
  if (Math.abs(off) < 30) return null;
  const values = { seconds: Math.abs(off) };
  return off > 0
    ? text('The clock of this server is {{seconds}} s ahead: set up time synchronisation', values)
    : text('The clock of this server is {{seconds}} s behind: set up time synchronisation', values);
}

import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from '@stagi/contract/text.ts';
import type { Context } from '../context.ts';
import { runGit } from '../git/run.ts';
import { writeCommitGraph } from '../git/upkeep.ts';
import { type FetchRepository, ImportError } from '../projects/importWorker.ts';
import { syncRepository } from './afterPush.ts';
import { fsckSettings } from './fsckSettings.ts';
import { whyItFailed } from './importFailure.ts';
import { openPinnedProxy, type Pinned, type PinnedProxy } from './pinnedProxy.ts';
import { addressesOf, isPublicAddress } from './publicAddress.ts';
import { runFetch } from './runFetch.ts';

/** Where a plan has no limit. */
const MAX_BYTES = 50 * 1024 ** 3;
const ASK_MS = 60_000;
const TIDY_MS = 10 * 60_000;
const REFS = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
/**
 * The whole history, in the words of a shallow fetch: those are refused by the protocol of plain file servers, whose
 * objects git takes without checking them.
 */
const WHOLE = '--depth=2147483647';

/** Fetches branches and tags of a repository elsewhere, from a public address only. */
export function createImporter(ctx: Pick<Context, 'config' | 'log'>): FetchRepository {
  return async ({ url, dir, roomBytes }, report, signal) => {
    const pinned = await pin(ctx, url);
    await requireEmpty(dir);
    const maxBytes = Math.min(roomBytes ?? MAX_BYTES, MAX_BYTES);
    let phase: { name: string; fraction: number | null } = { name: 'connecting', fraction: null };
    const tell = (): void =>
      report({ phase: phase.name, fraction: phase.fraction, receivedBytes: proxy.receivedBytes() });
    const proxy = await openPinnedProxy(pinned, { maxBytes, onBytes: () => tell() });
    try {
      const settings = settingsOf(ctx, proxy);
      const head = await askForHead(url, settings, proxy, signal);
      const { code, stderr } = await runFetch(
        dir,
        [
          'fetch',
          '--progress',
          '--atomic',
          '--no-write-fetch-head',
          '--update-head-ok',
          '--no-recurse-submodules',
        ].concat(['--no-auto-maintenance', WHOLE, '--', url, ...REFS]),
        settings,
        {
          signal,
          onProgress: (next) => {
            phase = next;
            tell();
          },
        },
      );
      signal.throwIfAborted();
      if (code !== 0) throw new ImportError(whyItFailed(stderr, proxy.cut()));
      if (existsSync(join(dir, 'shallow')))
        throw new ImportError(text('The repository is a shallow clone: its history is incomplete'));
      const branches = await branchesOf(dir);
      if (branches.length === 0)
        throw new ImportError(text('There is no git repository with branches at this address'));
      const branch =
        head !== null && branches.includes(head)
          ? head
          : (branches.find((name) => name === 'refs/heads/main') ?? branches[0]!);
      await runGit(dir, ['symbolic-ref', 'HEAD', branch]);
      await syncRepository(
        dir,
        branches.map((name) => ({ name })),
      );
      await writeGraph(ctx, dir, signal);
    } catch (error) {
      await tidy(ctx, dir);
      throw error;
    } finally {
      await proxy.close();
    }
  };
}

/** Without it pages are only slower. */
async function writeGraph({ log }: Pick<Context, 'log'>, dir: string, signal: AbortSignal): Promise<void> {
  try {
    await writeCommitGraph(dir, { signal });
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, dir }, 'a commit-graph could not be written');
  }
}

/** Resolves the host once; every address of it must be public. */
async function pin({ config }: Pick<Context, 'config'>, text_: string): Promise<Pinned> {
  const url = URL.canParse(text_) ? new URL(text_) : null;
  if (url?.protocol !== 'https:' || url.username || url.password || url.search || url.hash)
    throw new ImportError(text('Enter an address that begins with https://'));
  const { hostname } = url;
  const port = Number(url.port || 443);
  let addresses: string[];
  try {
    addresses = await addressesOf(hostname);
  } catch {
    throw new ImportError(text('The host of this address cannot be found'));
  }
  const isOwn = config.gitImportHosts.has(`${hostname}:${port}`);
  if (addresses.length === 0 || (!isOwn && !addresses.every(isPublicAddress)))
    throw new ImportError(text('The host of this address is not on the internet: it cannot be imported from'));
  return { hostname, port, addresses };
}

/** Nothing of the machine's configuration, one protocol, one host, no redirect. */
function settingsOf({ config }: Pick<Context, 'config'>, proxy: PinnedProxy): Record<string, string> {
  const settings: [string, string][] = [
    ['safe.directory', '*'],
    ['protocol.allow', 'never'],
    ['protocol.https.allow', 'always'],
    ['http.proxy', proxy.url],
    ['http.proxyAuthMethod', 'basic'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', '60'],
    ['http.sslVerify', 'true'],
    ['credential.helper', ''],
    ['transfer.bundleURI', 'false'],
    ['fetch.uriProtocols', ''],
    ['fetch.fsckObjects', 'true'],
    ['fetch.unpackLimit', '1'],
    ...fsckSettings('fetch.fsck'),
  ];
  if (config.gitImportCaFile) settings.push(['http.sslCAInfo', config.gitImportCaFile]);
  // In the environment, not in the arguments that other users of this machine see: the proxy has a password.
  return Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(settings.length)],
    ['GIT_ASKPASS', '/bin/false'],
    ...settings.flatMap(([key, value], n) => [
      [`GIT_CONFIG_KEY_${n}`, key],
      [`GIT_CONFIG_VALUE_${n}`, value],
    ]),
  ]);
}

/** The branch that HEAD names there; null: none, or it is not told. */
async function askForHead(
  url: string,
  settings: Record<string, string>,
  proxy: PinnedProxy,
  signal: AbortSignal,
): Promise<string | null> {
  const asked = await runFetch(null, ['ls-remote', '--symref', '--', url, 'HEAD'], settings, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]),
  });
  signal.throwIfAborted();
  if (asked.code !== 0) throw new ImportError(whyItFailed(asked.stderr, proxy.cut()));
  return /^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(asked.stdout)?.[1] ?? null;
}

async function branchesOf(dir: string): Promise<string[]> {
  const { stdout } = await runGit(dir, ['for-each-ref', '--format=%(refname)', 'refs/heads'], { timeoutMs: ASK_MS });
  return stdout.toString().split('\n').filter(Boolean);
}

async function requireEmpty(dir: string): Promise<void> {
  const { stdout } = await runGit(dir, ['for-each-ref', '--count=1', '--format=%(refname)']);
  if (stdout.length > 0) throw new ImportError(text('Only an empty project can import a repository'));
  await removeUnfinished(dir);
}

/** Leaves the repository as empty as it was. */
async function tidy({ log }: Pick<Context, 'log'>, dir: string): Promise<void> {
  try {
    const { stdout } = await runGit(dir, ['for-each-ref', '--format=delete %(refname)']);
    if (stdout.length > 0) await runGit(dir, ['update-ref', '--stdin'], { input: stdout });
    await rm(join(dir, 'shallow'), { force: true });
    await removeUnfinished(dir);
    await runGit(dir, ['gc', '--quiet', '--prune=now'], { timeoutMs: TIDY_MS });
  } catch (error) {
    log.warn({ err: error, dir }, 'what an import left could not be removed');
  }
}

/** What a killed fetch left: pushes put theirs elsewhere, in quarantine. */
async function removeUnfinished(dir: string): Promise<void> {
  const packs = join(dir, 'objects/pack');
  const names = (await readdir(packs)).filter((name) => name.startsWith('tmp_') || name.endsWith('.keep'));
  await Promise.all(names.map((name) => rm(join(packs, name), { force: true })));
}

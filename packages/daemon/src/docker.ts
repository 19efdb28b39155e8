import { Readable } from 'node:stream';
import type { ActualContainer, RegistryAuth } from '@stagi/contract/daemon.ts';
import type { DesiredContainer } from '@stagi/contract/desiredState.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import Docker from 'dockerode';
import { z } from 'zod';
import { containerHolds } from './containerHolds.ts';
import {
  containerName,
  containerOptions,
  LABELS,
  labelsOf,
  type Owner,
  secretNames,
  specNoOf,
} from './containerSpec.ts';
import { type ArchiveEngine, archiveEngine } from './dockerArchive.ts';
import { DockerError, statusOf, toDockerError, toPullError } from './dockerErrors.ts';
import { type ExecEngine, execEngine } from './dockerExec.ts';
import { lastExits } from './dockerExits.ts';
import { type ImageEngine, imageEngine } from './dockerImages.ts';
import { getsInit, hasInit, requireProgram } from './dockerInit.ts';
import { inspect, type Shown } from './dockerInspect.ts';
import { ensureNetwork } from './dockerNetwork.ts';
import { stopGently } from './dockerStop.ts';
import type { PullAuth } from './pullAuths.ts';
import { type PullProgress, pullProgress } from './pullProgress.ts';
import { withTimeout } from './timing.ts';
import { type ContainerCounters, countersFrom } from './usage/containerStats.ts';

const QUERY_TIMEOUT_MS = 15_000;
const CHANGE_TIMEOUT_MS = 180_000;

type State = Pick<ActualContainer, 'state' | 'startedAt'>;

/** Everything the daemon asks of Docker. No other file knows Docker. Calls other than on archives end within minutes. */
export interface Engine extends ArchiveEngine, ExecEngine, ImageEngine {
  /** Our containers of this node, in any state. */
  list(): Promise<Shown[]>;
  /** Null when there is no such container. */
  inspect(dockerId: string): Promise<State | null>;
  hasImage(image: string): Promise<boolean>;
  /** The user of its program as the container names it, or as its image does: `ada`, `1000:1000`, empty for root. */
  configuredUser(dockerId: string): Promise<string>;
  info(): Promise<EngineInfo>;
  /** Creates the container, or adopts the existing one with its name, id and specification. Returns its Docker id. */
  create(target: DesiredContainer, hostConfig: HostConfig): Promise<{ dockerId: string } | 'image missing'>;
  /** Rejects with the signal's reason when aborted. */
  pull(image: string, auth: PullAuth, onProgress: (progress: PullProgress) => void, signal: AbortSignal): Promise<void>;
  /** They fail when the container is in the state already. */
  pause(dockerId: string): Promise<void>;
  unpause(dockerId: string): Promise<void>;
  /** The next four are idempotent: they succeed when there is nothing to do. */
  start(dockerId: string, image: string): Promise<void>;
  stop(dockerId: string, stop: Stop): Promise<void>;
  remove(dockerId: string): Promise<void>;
  restart(dockerId: string, image: string, stop: Stop): Promise<void>;
  /** What it has used so far; null when it does not run, or is held (`containerHolds.ts`). */
  usage(dockerId: string): Promise<ContainerCounters | null>;
  /** Calls back on every change of our containers or of images, until the stream breaks or the signal is aborted. */
  watch(onChange: (kind: 'container' | 'image') => void, signal: AbortSignal): Promise<void>;
  /** The values of the variables that are masked in its log. Throws when there is no such container. */
  secretsOf(dockerId: string): Promise<string[]>;
  /** Docker's multiplexed log stream: one record per frame, each beginning with its time. */
  logs(dockerId: string, read: { follow: boolean; sinceNs: bigint; tail?: number }): Promise<Readable>;
}

/** The stop of a container. It rejects with the signal's reason when aborted; Docker goes on with it then. */
export interface Stop {
  /** The time that its programs have to end. */
  graceSeconds: number;
  signal: AbortSignal;
}

export interface EngineInfo {
  version: string;
  /** With the revision of the distribution's package where Docker tells it: `1.1.5+ds1-1+deb12u1`. */
  runc: string | null;
  rootDir: string;
  runtimes: string[];
  /** It has an init for containers (`HostConfig.Init`). */
  init: boolean;
}

export function connectDocker(owner: Owner, socketPath = '/var/run/docker.sock'): Engine {
  const docker = new Docker({ socketPath });
  const ours = Object.entries(labelsOf(owner)).map(([name, value]) => `${name}=${value}`);
  const holds = containerHolds<Shown | null>();
  const exits = lastExits();
  const show = (dockerId: string) => inspect(docker, dockerId, exits.codeOf);
  const look = (dockerId: string) => holds.look(dockerId, () => show(dockerId));
  const archive = archiveEngine(docker, (dockerId, work) => holds.hold(dockerId, () => show(dockerId), work));
  return {
    ...imageEngine(docker),
    ...archive,
    ...execEngine(docker),

    async list() {
      const rows = await withTimeout(QUERY_TIMEOUT_MS, 'listing containers', (abortSignal) =>
        docker.listContainers({ all: true, filters: { label: ours }, abortSignal }),
      );
      const named = rows.filter((row) => row.Names.some((name) => name.startsWith('/stagi-')));
      const seen = await Promise.all(named.map((row) => look(row.Id)));
      return seen.filter((container) => container !== null);
    },

    async inspect(dockerId) {
      const found = await look(dockerId);
      return found && { state: found.state, startedAt: found.startedAt };
    },

    async hasImage(image) {
      try {
        await withTimeout(QUERY_TIMEOUT_MS, 'looking for the image', () => docker.getImage(image).inspect());
        return true;
      } catch (error) {
        if (statusOf(error) === 404) return false;
        throw toDockerError(error, image);
      }
    },

    async configuredUser(dockerId) {
      const { Config } = await withTimeout(QUERY_TIMEOUT_MS, 'inspecting a container', (abortSignal) =>
        docker.getContainer(dockerId).inspect({ abortSignal }),
      );
      return Config.User;
    },

    async info() {
      const version = await withTimeout(QUERY_TIMEOUT_MS, 'asking Docker', () => docker.version());
      const info: { DockerRootDir?: string; Runtimes?: object; InitCommit?: { ID?: string } } = await withTimeout(
        QUERY_TIMEOUT_MS,
        'asking Docker',
        () => docker.info(),
      );
      const runc = version.Components?.find(({ Name }) => Name === 'runc');
      return {
        version: version.Version,
        runc: runc ? packageVersion(runc) : null,
        rootDir: info.DockerRootDir ?? '/var/lib/docker',
        runtimes: Object.keys(info.Runtimes ?? {}),
        init: hasInit(info),
      };
    },

    async create(target, hostConfig) {
      await ensureNetwork(docker);
      try {
        const options = containerOptions(target, owner, { ...hostConfig, Init: await getsInit(docker, target) });
        const made = await withTimeout(CHANGE_TIMEOUT_MS, 'creating the container', (abortSignal) =>
          docker.createContainer({ ...options, abortSignal }),
        );
        return { dockerId: made.id };
      } catch (error) {
        if (statusOf(error) === 404) return 'image missing';
        if (statusOf(error) === 409) return { dockerId: await adopt(docker, target, owner) };
        throw toDockerError(error, target.spec.image);
      }
    },

    async pull(image, auth, onProgress, signal) {
      try {
        const stream = await docker.pull(image, { abortSignal: signal, ...authOption(auth) });
        const progress = pullProgress();
        for await (const event of jsonLines(stream)) {
          const now = progress.take(event);
          if (now) onProgress(now);
        }
      } catch (error) {
        signal.throwIfAborted();
        throw toPullError(error, image, auth);
      }
    },

    pause: (dockerId) => change(() => docker.getContainer(dockerId).pause(), 'pausing', ''),
    unpause: (dockerId) => change(() => docker.getContainer(dockerId).unpause(), 'resuming', ''),
    async start(dockerId, image) {
      await ensureNetwork(docker);
      await requireProgram(docker, dockerId, archive.pathAt);
      await callIdempotently(() => docker.getContainer(dockerId).start(), 'starting', image);
    },
    async stop(dockerId, { graceSeconds, signal }) {
      const stop = () => docker.getContainer(dockerId).stop({ t: graceSeconds });
      const work = graceSeconds === 0 ? stop : () => stopGently(docker, dockerId, stop, signal);
      await callIdempotently(work, 'stopping', '', graceSeconds);
      signal.throwIfAborted();
    },
    async restart(dockerId, image, { graceSeconds, signal }) {
      await ensureNetwork(docker);
      const restart = () => docker.getContainer(dockerId).restart({ t: graceSeconds });
      await callIdempotently(() => stopGently(docker, dockerId, restart, signal), 'restarting', image, graceSeconds);
    },

    async remove(dockerId) {
      try {
        await withTimeout(CHANGE_TIMEOUT_MS, 'removing the container', () =>
          docker.getContainer(dockerId).remove({ force: true, v: true }),
        );
      } catch (error) {
        // 409: its removal is in progress.
        if (statusOf(error) !== 404 && statusOf(error) !== 409) throw toDockerError(error, '');
      }
    },

    usage: (dockerId) => holds.unlessHeld(dockerId, () => usage(docker, dockerId)),

    async watch(onChange, signal) {
      const stream = await withTimeout(QUERY_TIMEOUT_MS, 'listening to Docker', (late) =>
        docker.getEvents({
          filters: { type: ['container', 'image'] },
          abortSignal: AbortSignal.any([signal, late]),
        }),
      );
      for await (const event of jsonLines(stream)) {
        const kind = eventKind(event, owner);
        if (kind === 'container') exits.note(event);
        if (kind) onChange(kind);
      }
    },

    async secretsOf(dockerId) {
      const { Config } = await holds.afterHold(dockerId, () =>
        withTimeout(QUERY_TIMEOUT_MS, 'inspecting a container', (abortSignal) =>
          docker.getContainer(dockerId).inspect({ abortSignal }),
        ),
      );
      const names = new Set(secretNames(Config.Labels[LABELS.secret]));
      // Docker has null where neither the image nor the container sets a variable.
      return (Config.Env ?? []).flatMap((line) => {
        const at = line.indexOf('=');
        return names.has(line.slice(0, at)) ? [line.slice(at + 1)] : [];
      });
    },

    logs: (dockerId, { follow, sinceNs, tail }) =>
      holds.afterHold(dockerId, () =>
        withTimeout(QUERY_TIMEOUT_MS, 'opening the log', () => {
          // Without `follow` dockerode collects the whole log, up to 150 MB, in one buffer; its dialler gives a stream.
          const options = {
            stdout: true,
            stderr: true,
            timestamps: true,
            follow,
            since: `${sinceNs / 1_000_000_000n}.${String(sinceNs % 1_000_000_000n).padStart(9, '0')}`,
            ...(tail === undefined ? {} : { tail }),
          };
          return new Promise<Readable>((resolve, reject) => {
            docker.modem.dial(
              {
                path: `/containers/${dockerId}/logs?`,
                method: 'GET',
                isStream: true,
                statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
                options,
              },
              (error, stream) =>
                stream instanceof Readable ? resolve(stream) : reject(error ?? new Error('Docker sent no log')),
            );
          });
        }),
      ),
  };
}

/** Docker sends it to the registry of the image that is pulled. */
function authOption(auth: PullAuth): { authconfig?: RegistryAuth } {
  return auth === null || auth === 'unknown' ? {} : { authconfig: auth };
}

/** With `one-shot` Docker answers at once; otherwise it would wait for a second look. */
async function usage(docker: Docker, dockerId: string): Promise<ContainerCounters | null> {
  try {
    return countersFrom(
      await withTimeout(QUERY_TIMEOUT_MS, 'measuring a container', () =>
        docker.getContainer(dockerId).stats({ stream: false, 'one-shot': true }),
      ),
    );
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/**
 * Resolves a name conflict. The name belongs to an earlier attempt of ours, which is adopted, to a container of ours
 * that is being removed or has another specification, or to a container of somebody else.
 */
async function adopt(docker: Docker, target: DesiredContainer, owner: Owner): Promise<string> {
  const name = containerName(target.slug);
  const { Id, Config } = await docker.getContainer(name).inspect();
  const ours = isOwnedBy(owner, Config.Labels);
  const isSame =
    Config.Labels[LABELS.id] === String(target.id) && (Config.Labels[LABELS.spec] ?? '1') === String(specNoOf(target));
  if (ours && isSame) return Id;
  throw new DockerError(
    ours
      ? `An earlier container with the name ${name} is still on the server`
      : `The server has a container named ${name} that is none of ours`,
    !ours,
  );
}

/** Succeeds when there was nothing to do: 304 when the state is as asked, 404 when a container to stop is gone. */
async function callIdempotently(
  call: () => Promise<unknown>,
  doing: string,
  image: string,
  graceSeconds = 0,
): Promise<void> {
  const isDone = (status: number | null) => status === 304 || (doing === 'stopping' && status === 404);
  await change(call, doing, image, { isDone, graceSeconds });
}

const NEVER = (): boolean => false;

async function change(
  call: () => Promise<unknown>,
  doing: string,
  image: string,
  { isDone = NEVER, graceSeconds = 0 }: { isDone?: (status: number | null) => boolean; graceSeconds?: number } = {},
): Promise<void> {
  try {
    await withTimeout(CHANGE_TIMEOUT_MS + graceSeconds * 1000, `${doing} the container`, call);
  } catch (error) {
    if (!isDone(statusOf(error))) throw toDockerError(error, image);
  }
}

const DockerEvent = z.object({
  Type: z.string(),
  Actor: z.object({ Attributes: z.record(z.string(), z.string()).nullish() }).optional(),
});

function eventKind(raw: unknown, owner: Owner): 'container' | 'image' | null {
  const event = DockerEvent.safeParse(raw).data;
  if (event?.Type === 'image') return 'image';
  return isOwnedBy(owner, event?.Actor?.Attributes ?? {}) ? 'container' : null;
}

function isOwnedBy(owner: Owner, labels: Record<string, string>): boolean {
  return Object.entries(labelsOf(owner)).every(([name, value]) => labels[name] === value);
}

async function* jsonLines(stream: NodeJS.ReadableStream): AsyncGenerator<unknown> {
  let rest = '';
  stream.setEncoding('utf8');
  for await (const chunk of stream) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
  }
  if (rest.trim() !== '') yield JSON.parse(rest);
}

/** Debian's Docker gives runc's upstream version, and the package's in place of the commit; others a real commit. */
export function packageVersion({ Version, Details }: { Version: string; Details?: Record<string, unknown> }): string {
  const commit = String(Details?.GitCommit ?? '');
  return commit.startsWith(`${Version}-`) ? commit : Version;
}

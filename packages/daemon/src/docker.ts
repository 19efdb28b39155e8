import { Readable } from 'node:stream';
import type { ActualContainer, DesiredContainer, Inventory } from '@stagi/contract/daemon.ts';
import type { HostConfig } from '@stagi/contract/hostConfig.ts';
import Docker from 'dockerode';
import { z } from 'zod';
import { containerName, containerOptions, LABELS, labelsOf, type Owner, STOP_SECONDS } from './containerSpec.ts';
import { within } from './deadline.ts';
import { DockerProblem, explain, statusOf } from './dockerErrors.ts';
import type { SeenContainer } from './plan.ts';
import { type PullProgress, pullProgress } from './pullProgress.ts';

const QUICK_MS = 15_000;
const SLOW_MS = 180_000;
const MAX_IMAGES = 500;

type State = Pick<ActualContainer, 'state' | 'startedAt'>;

/** Everything the daemon asks of Docker; nothing else knows that there is one. Calls end or throw within minutes. */
export interface Engine {
  /** Our containers of this node, in any state. */
  list(): Promise<Omit<SeenContainer, 'begunGen'>[]>;
  /** Null when there is no such container. */
  look(dockerId: string): Promise<State | null>;
  images(): Promise<Inventory['images']>;
  info(): Promise<EngineInfo>;
  /** Makes the container, or takes over the one that bears its name and id already. Answers its Docker id. */
  create(target: DesiredContainer, hostConfig: HostConfig): Promise<{ dockerId: string } | 'image missing'>;
  /** Rejects with the signal's reason when aborted. */
  pull(image: string, onProgress: (progress: PullProgress) => void, signal: AbortSignal): Promise<void>;
  /** The next four succeed when there is nothing left to do. */
  start(dockerId: string, image: string): Promise<void>;
  stop(dockerId: string): Promise<void>;
  remove(dockerId: string): Promise<void>;
  restart(dockerId: string, image: string): Promise<void>;
  /** Calls back on every change of ours or of an image until the stream breaks or the signal is aborted. */
  watch(onChange: (kind: 'container' | 'image') => void, signal: AbortSignal): Promise<void>;
  /** Docker's own multiplexed stream of the log: each frame is one record, each begins with its time. */
  logs(dockerId: string, read: { follow: boolean; sinceNs: bigint; tail?: number }): Promise<Readable>;
}

export interface EngineInfo {
  version: string;
  runc: string | null;
  rootDir: string;
  runtimes: string[];
}

export function connectDocker(owner: Owner, socketPath = '/var/run/docker.sock'): Engine {
  const docker = new Docker({ socketPath });
  const ours = Object.entries(labelsOf(owner)).map(([name, value]) => `${name}=${value}`);
  return {
    async list() {
      const rows = await within(QUICK_MS, 'listing containers', (abortSignal) =>
        docker.listContainers({ all: true, filters: { label: ours }, abortSignal }),
      );
      const named = rows.filter((row) => row.Names.some((name) => name.startsWith('/stagi-')));
      const seen = await Promise.all(named.map((row) => inspect(docker, row.Id, row.Labels)));
      return seen.filter((container) => container !== null);
    },

    async look(dockerId) {
      const found = await inspect(docker, dockerId, {});
      return found && { state: found.state, startedAt: found.startedAt };
    },

    async images() {
      const rows = await within(QUICK_MS, 'listing images', (abortSignal) => docker.listImages({ abortSignal }));
      return rows
        .sort((a, b) => b.Created - a.Created)
        .flatMap((row) =>
          (row.RepoTags ?? [])
            .filter((tag) => tag !== '<none>:<none>')
            .map((reference) => ({
              reference,
              sizeBytes: row.Size,
              createdAt: new Date(row.Created * 1000).toISOString(),
            })),
        )
        .slice(0, MAX_IMAGES);
    },

    async info() {
      const version = await within(QUICK_MS, 'asking Docker', () => docker.version());
      const info: { DockerRootDir?: string; Runtimes?: object } = await within(QUICK_MS, 'asking Docker', () =>
        docker.info(),
      );
      const runc = version.Components?.find(({ Name }) => Name === 'runc')?.Version ?? null;
      return {
        version: version.Version,
        runc,
        rootDir: info.DockerRootDir ?? '/var/lib/docker',
        runtimes: Object.keys(info.Runtimes ?? {}),
      };
    },

    async create(target, hostConfig) {
      const options = containerOptions(target, owner, hostConfig);
      try {
        const made = await within(SLOW_MS, 'creating the container', (abortSignal) =>
          docker.createContainer({ ...options, abortSignal }),
        );
        return { dockerId: made.id };
      } catch (error) {
        if (statusOf(error) === 404) return 'image missing';
        if (statusOf(error) === 409) return { dockerId: await adopt(docker, target, owner) };
        throw explain(error, target.spec.image);
      }
    },

    async pull(image, onProgress, signal) {
      try {
        const stream = await docker.pull(image, { abortSignal: signal });
        const progress = pullProgress();
        for await (const event of jsonLines(stream)) {
          const now = progress.take(event);
          if (now) onProgress(now);
        }
      } catch (error) {
        signal.throwIfAborted();
        throw explain(error, image);
      }
    },

    start: (dockerId, image) => settle(() => docker.getContainer(dockerId).start(), 'starting', image),
    stop: (dockerId) => settle(() => docker.getContainer(dockerId).stop({ t: STOP_SECONDS }), 'stopping', ''),
    restart: (dockerId, image) =>
      settle(() => docker.getContainer(dockerId).restart({ t: STOP_SECONDS }), 'restarting', image),

    async remove(dockerId) {
      try {
        await within(SLOW_MS, 'removing the container', () =>
          docker.getContainer(dockerId).remove({ force: true, v: true }),
        );
      } catch (error) {
        // 409: somebody is removing it at this moment.
        if (statusOf(error) !== 404 && statusOf(error) !== 409) throw explain(error, '');
      }
    },

    async watch(onChange, signal) {
      const stream = await within(QUICK_MS, 'listening to Docker', (late) =>
        docker.getEvents({
          filters: { type: ['container', 'image'] },
          abortSignal: AbortSignal.any([signal, late]),
        }),
      );
      for await (const event of jsonLines(stream)) {
        const kind = subjectOf(event, owner);
        if (kind) onChange(kind);
      }
    },

    logs: (dockerId, { follow, sinceNs, tail }) =>
      within(QUICK_MS, 'opening the log', () => {
        // dockerode collects what does not follow into one buffer, and a log may have 150 MB: hence its dialler.
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
  };
}

async function inspect(
  docker: Docker,
  dockerId: string,
  labels: Record<string, string>,
): Promise<Omit<SeenContainer, 'begunGen'> | null> {
  try {
    const { State, Id } = await within(QUICK_MS, 'inspecting a container', (abortSignal) =>
      docker.getContainer(dockerId).inspect({ abortSignal }),
    );
    const state = stateOf(State.Status);
    return {
      id: Number(labels[LABELS.id]),
      createdGen: Number(labels[LABELS.gen] ?? 0),
      dockerId: Id,
      state,
      exitCode: state === 'exited' || state === 'dead' ? State.ExitCode : null,
      oomKilled: State.OOMKilled,
      error: State.Error === '' ? null : State.Error,
      startedAt: momentOf(State.StartedAt),
      finishedAt: momentOf(State.FinishedAt),
    };
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/** Docker writes the year 1 where nothing has happened yet. */
function momentOf(time: string): string | null {
  return time === '' || time.startsWith('0001-') ? null : time;
}

function stateOf(status: string): ActualContainer['state'] {
  switch (status) {
    case 'created':
    case 'running':
    case 'paused':
    case 'restarting':
    case 'removing':
    case 'exited':
    case 'dead':
      return status;
    default:
      throw new Error(`Docker shows a container in the unknown state ${status}`);
  }
}

/** The name is taken: by an earlier try of ours, by our container that is about to go, or by somebody else's. */
async function adopt(docker: Docker, target: DesiredContainer, owner: Owner): Promise<string> {
  const name = containerName(target.slug);
  const { Id, Config } = await docker.getContainer(name).inspect();
  const ours = isOf(owner, Config.Labels);
  if (ours && Config.Labels[LABELS.id] === String(target.id)) return Id;
  throw new DockerProblem(
    ours
      ? `An earlier container with the name ${name} is still on the server`
      : `The server has a container named ${name} that is none of ours`,
    !ours,
  );
}

/** 304 says that it is so already, 404 after a stop that it is gone. */
async function settle(call: () => Promise<unknown>, doing: string, image: string): Promise<void> {
  try {
    await within(SLOW_MS, `${doing} the container`, call);
  } catch (error) {
    if (statusOf(error) === 304 || (doing === 'stopping' && statusOf(error) === 404)) return;
    throw explain(error, image);
  }
}

const DockerEvent = z.object({
  Type: z.string(),
  Actor: z.object({ Attributes: z.record(z.string(), z.string()).nullish() }).optional(),
});

function subjectOf(raw: unknown, owner: Owner): 'container' | 'image' | null {
  const event = DockerEvent.safeParse(raw).data;
  if (event?.Type === 'image') return 'image';
  return isOf(owner, event?.Actor?.Attributes ?? {}) ? 'container' : null;
}

function isOf(owner: Owner, labels: Record<string, string>): boolean {
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

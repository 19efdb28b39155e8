import { constants } from 'node:os';
import { findProcesses, isWaitingForSignals, type Process, sendSignal } from './processTree.ts';
import { sleep } from './timing.ts';

const LOOK_MS = 100;
const LOOK_LATER_MS = 500;
const OFTEN_MS = 5000;
/** As first processes they pass the stop signal on to their first child, and to no other. */
const INITS = ['docker-init', 'tini', 'catatonit', 'dumb-init'];
/** Their children get the signal even if they handle it themselves: a shell passes nothing on. */
const SHELLS = ['sh', 'dash', 'bash', 'ash', 'busybox', 'ksh', 'mksh', 'zsh', 'fish'];

/** A container that is to be stopped. Docker itself signals its first process. */
export interface StoppingContainer {
  dockerId: string;
  /** Its first process, as this machine numbers it. */
  pid: number;
  signal: NodeJS.Signals;
}

/**
 * Brings the stop signal of a container to its programs, wherever below shells they run, and gives them time to end.
 *
 * Docker signals the first process alone. A shell drops the signal, or ends by it before its program, and with the first
 * process everything ends. So a process that does nothing about the signal and waits for children is held: it is frozen,
 * what it waits for gets the signal, and it ends by it afterwards, without beginning its next command. A program that
 * handles the signal answers for its own children.
 */
export interface ProgramStop {
  /** To be called before Docker is asked to stop the container. False: its processes cannot be seen from here. */
  hold(): Promise<boolean>;
  /** Signals until the container has ended or the signal is aborted. `kill`: only a kill can end what is left. */
  follow(signal: AbortSignal): Promise<'ended' | 'kill' | 'aborted'>;
  /** Takes `hold` back: the container was not stopped. */
  release(): Promise<void>;
}

export function stopPrograms({ dockerId, pid, signal }: StoppingContainer): ProgramStop {
  const number = constants.signals[signal];
  const held = new Map<number, Process>();
  /** One that is told twice may take the second time for an order to hurry. */
  const told = new Set<string>();
  const send = (process: Process, what: NodeJS.Signals) => sendSignal(process, dockerId, what);

  /** Holds what waits for others, from the first process down, and names who is to get the signal. */
  async function walk(all: readonly Process[]): Promise<Seen> {
    const childrenOf = Map.groupBy(all.filter(isAlive), ({ parent }) => parent);
    const children = (process: Process) => childrenOf.get(process.pid) ?? [];
    const receivers: Receiver[] = [];
    async function visit(process: Process, above: readonly number[]): Promise<void> {
      const below = children(process);
      const waits = below.length > 0 && isDeaf(process, number);
      if (waits) await hold(process);
      else if (!process.ignores(number)) receivers.push({ ...process, above });
      if (waits || SHELLS.includes(process.name))
        for (const child of below) await visit(child, [...above, process.pid]);
    }
    const first = all.find((process) => process.pid === pid && isAlive(process)) ?? null;
    if (first && INITS.includes(first.name)) for (const child of children(first)) await visit(child, []);
    else if (first) await visit(first, []);
    return { first, receivers, main: first && mainOf(first, children(first)), hasChildren: (id) => childrenOf.has(id) };
  }

  async function hold(process: Process): Promise<void> {
    if (!held.has(process.pid) && (await send(process, 'SIGSTOP'))) held.set(process.pid, process);
  }

  /** Ends it by the signal. A frozen process sees it once it goes on, and nothing before. */
  async function tell(process: Process): Promise<void> {
    told.add(markOf(process));
    await send(process, signal);
    if (process.state === 'T') await send(process, 'SIGCONT');
  }

  return {
    async hold() {
      let all = await findProcesses(pid, dockerId);
      if (all === null) return false;
      let before: number;
      let seen: Seen;
      do {
        // A shell may have begun another command until it was held.
        before = held.size;
        seen = await walk(all);
        all = (await findProcesses(pid, dockerId)) ?? [];
      } while (held.size > before);
      if (seen.main?.catches(number)) told.add(markOf(seen.main));
      return true;
    },

    async follow(stop) {
      const since = performance.now();
      while (!stop.aborted) {
        const { first, receivers, hasChildren } = await walk((await findProcesses(pid, dockerId)) ?? []);
        if (!first) return 'ended';
        // The system spares the first process of a container: frozen, it would go on with its next command.
        if (held.has(pid) && !hasChildren(pid)) return 'kill';
        const handlers = receivers.filter((process) => process.catches(number));
        for (const process of receivers) {
          // Others may read or write through it: `train | tee log` still has its log. A shell above waits for it in turn.
          const serves = isDeaf(process, number) && handlers.some((other) => !process.above.includes(other.pid));
          if (!serves && !told.has(markOf(process))) await tell(process);
        }
        for (const [id, process] of held) {
          if (hasChildren(id)) continue;
          held.delete(id);
          await tell({ ...process, state: 'T' });
        }
        const isAlone = isDeaf(first, number) && !hasChildren(pid) && !INITS.includes(first.name);
        if (isAlone && !(await isWaitingForSignals(pid))) return 'kill';
        await sleep(performance.now() - since < OFTEN_MS ? LOOK_MS : LOOK_LATER_MS, stop);
      }
      return 'aborted';
    },

    async release() {
      for (const process of held.values()) await send(process, 'SIGCONT');
      held.clear();
    },
  };
}

interface Receiver extends Process {
  /** The processes that it is below of, but for an init. */
  above: readonly number[];
}

interface Seen {
  /** Null: the container has ended. */
  first: Process | null;
  receivers: Receiver[];
  /** Who gets Docker's own signal in the end. */
  main: Process | null;
  hasChildren(pid: number): boolean;
}

function mainOf(first: Process, children: readonly Process[]): Process | null {
  if (!INITS.includes(first.name)) return first;
  const [oldest] = [...children].sort((a, b) => a.startedAt - b.startedAt || a.pid - b.pid);
  return oldest ?? null;
}

const isAlive = ({ state }: Process): boolean => state !== 'Z' && state !== 'X';
const markOf = ({ pid, startedAt }: Process): string => `${pid}/${startedAt}`;
const isDeaf = (process: Process, signal: number): boolean => !process.catches(signal) && !process.ignores(signal);

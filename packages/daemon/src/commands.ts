import type { Command, DaemonMessage } from '@stagi/contract/daemon.ts';
import type { Journal } from './journal.ts';
import { reasonOf, say } from './log.ts';

type Result = Extract<DaemonMessage, { type: 'result' }>;

export interface CommandDeps {
  journal: Journal;
  /** The last start of a container as Docker shows it; null when it never was or is not there. */
  startedAt(containerId: number): Promise<string | null>;
  restart(containerId: number): Promise<void>;
  leave(removeContainers: boolean): Promise<void>;
}

/** Carries out signed commands, each id once however often it is sent, and answers repeats from the journal. */
export function commandRunner(deps: CommandDeps): { run(command: Command): Promise<Result | null> } {
  const running = new Set<string>();
  return {
    /** Null while an earlier copy of the same command is still being carried out: that one answers. */
    async run(command) {
      if (running.has(command.id)) return null;
      running.add(command.id);
      try {
        return await runOnce(deps, command);
      } finally {
        running.delete(command.id);
      }
    },
  };
}

async function runOnce(deps: CommandDeps, command: Command): Promise<Result> {
  const known = deps.journal.find(command.id);
  if (known?.result) return { type: 'result', commandId: command.id, ...known.result };
  if (known && (await hadEffect(deps, command, known.before)))
    return finish(deps, command, { ok: true, message: null });
  if (!known) await deps.journal.begin(command.id, await stateBefore(deps, command));
  try {
    await carryOut(deps, command);
    return await finish(deps, command, { ok: true, message: null });
  } catch (error) {
    say(`command ${command.do.kind} failed: ${reasonOf(error)}`);
    return finish(deps, command, { ok: false, message: error instanceof Error ? error.message : String(error) });
  }
}

async function finish(
  deps: CommandDeps,
  command: Command,
  result: { ok: boolean; message: string | null },
): Promise<Result> {
  await deps.journal.finish(command.id, result);
  return { type: 'result', commandId: command.id, ...result };
}

function carryOut(deps: CommandDeps, command: Command): Promise<void> {
  switch (command.do.kind) {
    case 'restart':
      return deps.restart(command.do.containerId);
    case 'leave':
      return deps.leave(command.do.removeContainers);
    default:
      return command.do satisfies never;
  }
}

/** The daemon died in the middle: a restart that happened shows in the start time, leaving is harmless to repeat. */
async function hadEffect(deps: CommandDeps, command: Command, before: string | null): Promise<boolean> {
  return command.do.kind === 'restart' && (await deps.startedAt(command.do.containerId)) !== before;
}

function stateBefore(deps: CommandDeps, command: Command): Promise<string | null> {
  return command.do.kind === 'restart' ? deps.startedAt(command.do.containerId) : Promise.resolve(null);
}

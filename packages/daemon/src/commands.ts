import type { DaemonMessage } from '@stagi/contract/daemon.ts';
import type { Command, CommandOutcome } from '@stagi/contract/desiredState.ts';
import type { CommandJournal, Entry } from './commandJournal.ts';
import { errorText, log } from './log.ts';

type Result = Extract<DaemonMessage, { type: 'result' }>;

export interface CommandDeps {
  journal: CommandJournal;
  /** When Docker last started the container; null when it was never started or does not exist. */
  startedAt(containerId: number): Promise<string | null>;
  restart(containerId: number): Promise<void>;
  leave(removeContainers: boolean): Promise<void>;
  removeImage(reference: string): Promise<CommandOutcome>;
  pruneImages(dryRun: boolean): Promise<CommandOutcome>;
}

/** Carries out signed commands idempotently: each id once, repeats are answered from the journal. */
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
  if (known && (await tookEffect(deps, command, known.before)))
    return finish(deps, command, { ok: true, message: null });
  if (!known) await deps.journal.begin(command.id, await stateBefore(deps, command));
  try {
    const outcome = await execute(deps, command);
    return await finish(deps, command, { ok: true, message: null, ...(outcome ? { outcome } : {}) });
  } catch (error) {
    log(`command ${command.do.kind} failed: ${errorText(error)}`);
    return finish(deps, command, { ok: false, message: error instanceof Error ? error.message : String(error) });
  }
}

async function finish(deps: CommandDeps, command: Command, result: NonNullable<Entry['result']>): Promise<Result> {
  await deps.journal.finish(command.id, result);
  return { type: 'result', commandId: command.id, ...result };
}

async function execute(deps: CommandDeps, command: Command): Promise<CommandOutcome | null> {
  switch (command.do.kind) {
    case 'restart':
      await deps.restart(command.do.containerId);
      return null;
    case 'leave':
      await deps.leave(command.do.removeContainers);
      return null;
    case 'image-remove':
      return deps.removeImage(command.do.reference);
    case 'image-prune':
      return deps.pruneImages(command.do.dryRun);
    default:
      return command.do satisfies never;
  }
}

/**
 * Whether a command that a crash interrupted has been carried out: a restart shows in the start time. The others are
 * safe to repeat.
 */
async function tookEffect(deps: CommandDeps, command: Command, before: string | null): Promise<boolean> {
  return command.do.kind === 'restart' && (await deps.startedAt(command.do.containerId)) !== before;
}

function stateBefore(deps: CommandDeps, command: Command): Promise<string | null> {
  return command.do.kind === 'restart' ? deps.startedAt(command.do.containerId) : Promise.resolve(null);
}

import { text } from '@stagi/contract/text.ts';
import type { DesiredStore } from '../../desiredState.ts';
import type { ExecEngine } from '../../dockerExec.ts';
import type { LocalPolicy } from '../../policy.ts';
import { RefusedStream, type StreamHandler } from '../streamServer.ts';
import { containerShell } from './containerShell.ts';
import { hostShell } from './hostShell.ts';
import type { Terminals } from './terminals.ts';

export interface TerminalDeps {
  engine: ExecEngine;
  desired: DesiredStore;
  terminals: Terminals;
  policy(): Promise<Pick<LocalPolicy, 'hostTerminal'>>;
  /** The id that Docker knows a container by; null when it is not there. */
  dockerIdOf(containerId: number): Promise<string | null>;
}

/** Leads to a shell: in a container of the desired state, or on the server itself where the local policy allows it. */
export function terminalStreams({
  engine,
  desired,
  terminals,
  policy,
  dockerIdOf,
}: TerminalDeps): StreamHandler<'terminal'> {
  /** Docker's id of a container that runs, by the desired state and by Docker. */
  async function runningContainer(id: number): Promise<string> {
    const container = desired.current()?.containers.find((one) => one.id === id);
    if (container?.state !== 'running') throw new RefusedStream(409, text('The container is not running'));
    const dockerId = await dockerIdOf(id);
    if (!dockerId) throw new RefusedStream(409, text('The container is not running'));
    return dockerId;
  }

  return async (target, accept) => {
    const { at, shell } = target;
    if ('container' in at) {
      const container = desired.current()?.containers.find(({ id }) => id === at.container);
      if (!container || container.state === 'absent' || container.task)
        throw new RefusedStream(404, text('There is no such container on this server'));
      return terminals.attach(target, accept, async (remember) =>
        containerShell(engine, await runningContainer(at.container), shell, remember),
      );
    }
    if (!(await policy()).hostTerminal)
      throw new RefusedStream(403, text('The policy of this server does not allow a terminal on it'));
    return terminals.attach(target, accept, (remember) => hostShell(target, remember));
  };
}

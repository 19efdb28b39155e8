import type { Container, ContainerStatus } from './containers.ts';
import { text } from './text.ts';
import { no, type Verdict, yes } from './verdict.ts';

const is = (container: { status: ContainerStatus }, ...statuses: ContainerStatus[]) =>
  statuses.includes(container.status);
type Actionable = {
  status: ContainerStatus;
  instance: { status: string };
  task: object | null;
  pendingEdit: object | null;
};
/** Its task decides what becomes of it. */
const OF_A_TASK = no(text('This container belongs to a task'));

/** Which actions a container allows now, and why the others are disabled. Used by the server and the web app. */
export const containerCan = {
  /** Whether a container can be created on this server. */
  create(server: { status: string }): Verdict {
    return server.status === 'online'
      ? yes
      : no(text('Containers can only be created for server instances that are online'));
  },
  start(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    if (container.instance.status !== 'online') return no(text('Its server must be online'));
    return is(container, 'stopped', 'exited', 'failed') ? yes : no(text('Only a stopped container can be started'));
  },
  stop(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    if (container.instance.status !== 'online') return no(text('Its server must be online'));
    return is(container, 'running', 'starting') ? yes : no(text('Only a running container can be stopped'));
  },
  restart(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    if (container.instance.status !== 'online') return no(text('Its server must be online'));
    if (container.pendingEdit) return no(text('Its last change is still being applied'));
    return is(container, 'running') ? yes : no(text('Only a running container can be restarted'));
  },
  edit(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    if (is(container, 'terminating', 'deleted')) return no(text('This container is already being deleted'));
    if (container.instance.status !== 'online') return no(text('Its server must be online'));
    const isChanging = is(container, 'starting', 'stopping', 'rebooting', 'unresponsive') && !container.pendingEdit;
    return isChanging ? no(text('Wait until it has started or stopped')) : yes;
  },
  /** Going back to the specification that the server has. */
  undoEdit(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    if (is(container, 'terminating', 'deleted')) return no(text('This container is already being deleted'));
    return container.pendingEdit ? yes : no(text('It has no change to undo'));
  },
  clone(container: Actionable): Verdict {
    return container.task ? OF_A_TASK : yes;
  },
  /** Reading and changing files of its volumes: also while it is stopped. */
  openFiles(container: Actionable & { directoryMappings: readonly object[] }): Verdict {
    if (container.task) return OF_A_TASK;
    if (container.directoryMappings.length === 0) return no(text('This container has no volumes'));
    if (is(container, 'terminating', 'deleted')) return no(text('This container is already being deleted'));
    return container.instance.status === 'online' ? yes : no(text('Its server must be online'));
  },
  delete(container: Actionable): Verdict {
    if (container.task) return OF_A_TASK;
    return is(container, 'terminating', 'deleted') ? no(text('This container is already being deleted')) : yes;
  },
};

/** Its server binds ports otherwise than their visibility says, or leaves it unprotected, until it is recreated. */
export function isToRecreate({ portMappings, unprotected }: Pick<Container, 'portMappings' | 'unprotected'>): boolean {
  const isBoundOtherwise = portMappings.some(({ boundAs, visibility }) => boundAs !== null && boundAs !== visibility);
  return isBoundOtherwise || unprotected?.until === 'recreated';
}

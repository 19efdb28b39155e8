import { ANSWER_WITHIN_MINUTES, type EndpointStatus, type ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import { text } from '@stagi/contract/text.ts';
import type { EndpointView } from './queries.ts';

type State = Pick<ModelEndpoint, 'status' | 'reason' | 'since' | 'deadline'>;
type Running = Pick<EndpointView, 'answered_at' | 'checked_at' | 'check_error'>;
type Container = NonNullable<EndpointView['container']>;

/** The state of a served model: from its row, from its container, and from when its engine answered. */
export function stateOf(row: EndpointView): State {
  const { container } = row;
  if (row.failed_reason !== null) return state('failed', row.failed_at ?? row.created_at, row.failed_reason);
  if (!container)
    return state('waiting for server', row.created_at, row.server_reason, row.server_deadline?.toISOString());
  const { status, status_since: since } = container;
  switch (status) {
    case 'creating':
    case 'starting':
    case 'rebooting':
      return state('creating', since, container.failed_cause);
    case 'running':
      return stateOfRunning(row, container);
    case 'unresponsive':
      return state('not answering', since, text('Its server cannot be reached'));
    case 'stopping':
    case 'stopped':
    case 'terminating':
    case 'deleted':
      return state('stopped', since);
    case 'exited':
      return state('failed', since, text('Its container has ended: its log says why'));
    case 'failed':
    case 'creation failed':
      return state('failed', since, container.status_reason ?? container.failed_cause);
    default:
      throw new Error(`unknown status ${status satisfies never}`);
  }
}

/** An engine that has not answered since its container started is loading its model, or ends again and again. */
function stateOfRunning(row: Running, container: Container): State {
  const started = new Date(container.started_at ?? container.status_since);
  const hasEverAnswered = row.answered_at !== null;
  const hasAnswered = row.answered_at !== null && row.answered_at >= started;
  const end = container.restarts > 0 ? ending(container.last_exit_code) : null;
  if (end !== null && isLooping(container) && (!hasAnswered || container.next_try_at !== null))
    return state(hasEverAnswered ? 'not answering' : 'failed', container.last_ended_at ?? started, end);
  if (row.answered_at !== null && hasAnswered)
    return state(row.check_error === null ? 'ready' : 'not answering', row.answered_at, row.check_error);
  const asked = row.checked_at !== null && row.checked_at >= started ? row.check_error : null;
  const deadline = new Date(started.getTime() + ANSWER_WITHIN_MINUTES * 60_000);
  if (deadline < new Date())
    return state('failed', deadline, asked ?? text('Its engine did not answer in time: its log says why'));
  return state('loading', started, end ?? asked, deadline.toISOString());
}

const isLooping = ({ looping_until }: Container): boolean =>
  looping_until !== null && new Date(looping_until) > new Date();

/** The end of the last run of its container; a code of null was not seen. */
function ending(code: number | null): string {
  if (code === null) return text('Its engine ended and is started again');
  return text('Its engine ended with exit code {{code}} and is started again', { code });
}

/** Its last run ended by itself, and what the log held then is news. */
export const hasEnded = ({ container }: EndpointView): boolean =>
  container !== null &&
  (container.status === 'failed' ||
    container.status === 'exited' ||
    (container.status === 'running' && container.restarts > 0));

const state = (
  status: EndpointStatus,
  since: Date | string,
  reason: string | null = null,
  deadline: string | null = null,
): State => ({ status, reason, since: new Date(since).toISOString(), deadline });

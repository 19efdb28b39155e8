import { useWorkspaceEvents } from '../api/events.ts';

/** Follows the workspace's events while it is mounted. */
export function WorkspaceEvents() {
  useWorkspaceEvents();
  return null;
}

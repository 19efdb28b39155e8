import { useEvents } from '../api/events.ts';

/** Follows the workspace's events as long as it is drawn. */
export function Events() {
  useEvents();
  return null;
}

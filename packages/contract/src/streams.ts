/** A server sends a message on each open stream (events, log tail) at least this often, also when there is nothing to tell. */
export const STREAM_PING_MS = 15_000;

/** Why the server closes a stream: WebSocket close codes. A reader that is too slow is cut off without one. */
export const STREAM_CLOSE = {
  /** The session or token has ended. */
  signedOut: 4401,
  /** The owner may no longer see what the stream is about. */
  noAccess: 4403,
  /** The owner is no longer a member of the workspace, or it was disabled. */
  workspaceGone: 4404,
  /** The server restarts: come back after a random pause. */
  restarting: 1012,
  tryAgain: 1013,
  /** The reader sent what is not understood. */
  badMessage: 1008,
  /** The reader sent more than is kept until it can be passed on. */
  tooMuch: 1009,
} as const;

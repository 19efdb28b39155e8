/** A call that was made at the recording, and what the platform answered. */
export type Recorded = readonly [path: string, input: object, body: object];

/** A file that `npm run demo` has written. */
export interface Recording {
  /** When the calls were made. */
  recordedAt: string;
  answers: readonly Recorded[];
}

/** The files of the recording: the catalogue is large, and not every visitor looks at it. */
export type Part = 'workspace' | 'models';

/** The file that a call is in. */
export const partOf = (path: string): Part => (path.startsWith('model/') ? 'models' : 'workspace');

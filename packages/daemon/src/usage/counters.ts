/** What has been counted since some beginning. Null: the machine does not tell. */
export interface Counters {
  /** In milliseconds, of a clock that only goes forward. */
  at: number;
  cpuSeconds: number | null;
  receivedBytes: number | null;
  sentBytes: number | null;
  readBytes: number | null;
  writtenBytes: number | null;
}

export interface Rates {
  /** Cores. */
  cpu: number | null;
  /** Bytes per second. */
  received: number | null;
  sent: number | null;
  read: number | null;
  written: number | null;
}

/** The averages of the time between two looks. A counter that went back was restarted: its rate is not known. */
export function ratesBetween(before: Counters | undefined, now: Counters): Rates {
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  const rate = (name: Exclude<keyof Counters, 'at'>): number | null => {
    const [from, to] = [before?.[name] ?? null, now[name]];
    return from === null || to === null || to < from || seconds <= 0 ? null : (to - from) / seconds;
  };
  return {
    cpu: rate('cpuSeconds'),
    received: rate('receivedBytes'),
    sent: rate('sentBytes'),
    read: rate('readBytes'),
    written: rate('writtenBytes'),
  };
}

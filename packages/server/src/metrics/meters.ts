/** What the parts of the product tell about themselves; nothing here blocks or throws. */
export interface Meters {
  /** One call was answered; `call` is its path in the table, never what a caller typed. */
  called(call: string, status: number, seconds: number): void;
  /** So many calls are being worked on now. */
  callsInside(count: number): void;
  /** A call was refused because too many were being worked on. */
  callShed(): void;
  linkOpened(): void;
  linkClosed(): void;
  /** Lines were stored for good; `lastNs` is when the last of them was printed, by its machine's clock. */
  linesStored(count: number, lastNs: bigint | undefined): void;
  gapStored(): void;
}

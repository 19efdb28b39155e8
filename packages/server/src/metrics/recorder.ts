/** Records metrics of all parts of the server; no method blocks or throws. */
export interface MetricsRecorder {
  /** A call was answered; `call` is its path in the call table, never the requested URL. */
  callAnswered(call: string, status: number, seconds: number): void;
  /** The number of calls in flight. */
  callsInFlight(count: number): void;
  /** Load shedding: a call was refused because too many were in flight. */
  callShed(): void;
  linkOpened(): void;
  linkClosed(): void;
  /** Lines were stored; `lastNs` is when the last of them was printed, by its machine's clock. */
  linesStored(count: number, lastNs: bigint | undefined): void;
  gapStored(): void;
  /** The S3 service answered a request, with the bytes of its body and of the answer's. */
  s3Answered(operation: string, status: number, seconds: number, received: number, sent: number): void;
  /** A container's port answered a request, or the platform in its place. */
  portAnswered(status: number, seconds: number): void;
  /** The number of requests and WebSockets to ports that go on. */
  portsOpen(count: number): void;
  /** How many blobs the last repair found without their bytes. */
  blobsMissing(count: number): void;
  /** The last comparison of a place: names that no row knows; with the alarm none of them is removed. */
  unknownBytes(place: string, count: number, hasAlarm: boolean): void;
  /** The repair corrected the use of a bucket. */
  useCorrected(): void;
}

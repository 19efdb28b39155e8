/**
 * Why files of a task could not be moved. `final`: it cannot succeed. `later`: the steps are tried again from their
 * beginning. `soon`: the request is tried again. The message is for a person, and holds no address.
 */
export class TransferError extends Error {
  readonly retry: 'final' | 'later' | 'soon';

  constructor(message: string, retry: TransferError['retry']) {
    super(message);
    this.retry = retry;
  }
}

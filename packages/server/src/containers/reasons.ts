import { text } from '@stagi/contract/text.ts';

/** Reasons of a container's status that decide what becomes of the task whose run it is. */
export const CONTAINER_GONE = text('The container is no longer on the server');
export const SERVER_STOPPED = text('Its server is stopped');

export const SERVER_REBOOTING = text('Its server is rebooting');
export const STOPPED_WITH_SERVER = text('It was stopped with its server');

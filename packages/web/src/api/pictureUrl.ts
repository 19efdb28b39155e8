import { apiOrigin } from './apiOrigin.ts';

/** The URL of a person's picture, on the API's host. */
export const pictureUrl = (path: string): string => new URL(path, apiOrigin(window.location)).href;

import { baseAddress } from './baseAddress.ts';

/** Where somebody's picture lies: on the host of the calls. */
export const pictureAddress = (path: string): string => new URL(path, baseAddress(window.location)).href;

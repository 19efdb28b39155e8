/**
 * The decoded size of a base64 text in bytes, without decoding it: its length minus the padding, times 3/4, rounded down
 * (specification section 5).
 */
export function sizeOfBase64(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}

export const BYTES_PER_MB = 1024 * 1024;

/** Limits of the images of a feedback; a profile picture may be as large. */
export const FEEDBACK_MAX_IMAGES = 3;
export const FEEDBACK_MAX_IMAGE_MB = 5;
export const PROFILE_IMAGE_MAX_MB = FEEDBACK_MAX_IMAGE_MB;

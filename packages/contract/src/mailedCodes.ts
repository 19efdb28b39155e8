/** Mailed codes: their lifetime, the attempts per code, and the rate limit for the next one. */
export const CODE_TTL_MINUTES = 10;
export const CODE_TRIES = 5;
export const CODE_RESEND_SECONDS = 60;

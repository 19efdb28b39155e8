/** How long a mailed code holds, how often one may try it, and how long to wait for the next. */
export const CODE_TTL_MINUTES = 10;
export const CODE_TRIES = 5;
export const CODE_RESEND_SECONDS = 60;

/** `DD.MM.YYYY HH:mm UTC`: a format of the specification; the reader's time zone is not known. */
export const utcMoment = (at: Date): string => `${dayOf(at)} ${at.toISOString().slice(11, 16)} UTC`;

/** `DD.MM.YYYY UTC`. */
export const utcDay = (at: Date): string => `${dayOf(at)} UTC`;

const dayOf = (at: Date): string => at.toISOString().slice(0, 10).split('-').toReversed().join('.');

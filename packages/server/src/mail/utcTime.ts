/** As the specification writes times, `DD.MM.YYYY HH:mm`, in UTC: a mail does not know its reader's time zone. */
export const utcMoment = (at: Date): string => `${dayOf(at)} ${at.toISOString().slice(11, 16)} UTC`;

/** `DD.MM.YYYY`, a day of UTC. */
export const utcDay = (at: Date): string => `${dayOf(at)} UTC`;

const dayOf = (at: Date): string => at.toISOString().slice(0, 10).split('-').toReversed().join('.');

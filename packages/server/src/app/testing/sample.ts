/** Ids of the entities that calls refer to. */
export interface Ids {
  instance: number;
  own: number;
  container: number;
  sshKey: number;
  stray: number;
  transaction: number;
  promoCode: number;
  signUpLink: number;
  session: string;
  apiToken: number;
  consent: string;
  member: number;
  passkey: number;
  invite: number;
  storage: number;
  storageKey: number;
  shareLink: number;
  project: number;
  /** A server that is attached to the project. */
  attached: number;
  task: number;
  schedule: number;
  /** Another one: a deleted schedule is shown nowhere. */
  doomedSchedule: number;
  /** An open multipart upload of the object `k`. */
  upload: string;
  containerSlug: string;
  /** A credential of a registry. */
  registry: number;
  /** A served model. */
  endpoint: number;
  /** Another one: a deleted one is shown nowhere. */
  doomedEndpoint: number;
  /** A template of containers. */
  template: number;
  /** The owner's address. */
  email: string;
}
export interface Sample {
  /** A valid request. */
  input: (ids: Ids) => unknown;
  /** How an id that is not the caller's is refused; a call whose sample names ids must say it. */
  foreign?: 404 | 400;
  /** It checks permissions in the workspace of the entity that it names, not in the active one. */
  asksThere?: true;
}

/** Ids that nothing has. */
export const ABSENT: Ids = {
  instance: 999_999_901,
  own: 999_999_902,
  container: 999_999_903,
  sshKey: 999_999_904,
  transaction: 999_999_999,
  promoCode: 999_999_999,
  signUpLink: 999_999_998,
  stray: 999_999_905,
  session: '00000000-0000-4000-8000-000000000000',
  apiToken: 999_999_906,
  consent: '00000000-0000-4000-8000-000000000001',
  member: 999_999_907,
  passkey: 999_999_906,
  email: 'nobody@example.com',
  invite: 999_999_908,
  storage: 999_999_909,
  storageKey: 999_999_910,
  shareLink: 999_999_911,
  project: 999_999_912,
  attached: 999_999_913,
  task: 999_999_914,
  schedule: 999_999_915,
  doomedSchedule: 999_999_916,
  upload: '00000000-0000-4000-8000-000000000002',
  containerSlug: 'no-such-container',
  template: 999_999_917,
  endpoint: 999_999_919,
  doomedEndpoint: 999_999_920,
  registry: 999_999_918,
};

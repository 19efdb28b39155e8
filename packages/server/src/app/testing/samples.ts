/** Ids of the entities that calls refer to. */
export interface Ids {
  instance: number;
  own: number;
  container: number;
  sshKey: number;
  stray: number;
  transaction: number;
  promoCode: number;
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

const NO_PASSKEY = {
  id: 'abc',
  rawId: 'abc',
  type: 'public-key',
  response: { clientDataJSON: 'abc', attestationObject: 'abc' },
};

const NO_ASSERTION = {
  id: 'abc',
  rawId: 'abc',
  type: 'public-key',
  response: { clientDataJSON: 'abc', authenticatorData: 'abc', signature: 'abc' },
};

const ASKED = {
  client_id: 'stagi-cli',
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
  redirect_uri: 'http://127.0.0.1:4999/callback',
  response_type: 'code',
  state: 'walk',
};

const aTaskOf = ({ project, attached, storage }: Ids) => ({
  projectRef: { id: project },
  instanceRef: { id: attached },
  storageRef: { id: storage },
  inputUrlPath: 'walk/',
  inputPath: '/input',
  outputPath: '/output',
  command: 'true',
  commit: 'main',
  image: 'busybox',
  cpus: 1,
  gpuCount: 0,
});

/** A valid request for every call. A call without one fails the walk. */
export const SAMPLES: Record<string, Sample> = {
  'auth/email/register': { input: ({ email }) => ({ name: 'walk', email, password: 'Correct-horse-7' }) },
  'auth/email/verify-code': { input: ({ email }) => ({ email, code: '12345678' }) },
  'auth/email/resend-code': { input: ({ email }) => ({ email }) },
  'auth/email/authentication': { input: ({ email }) => ({ email, password: 'Wrong-horse-7' }) },
  'auth/email/reset-password-code': { input: ({ email }) => ({ email }) },
  'auth/email/reset-password': {
    input: ({ email }) => ({ email, code: '12345678', newPassword: 'Another-horse-8' }),
  },
  'auth/exchange-refresh-token': { input: () => ({ refreshToken: 'walk' }) },
  logout: { input: () => ({ refreshToken: 'walk' }) },
  'auth/google-oauth/get-authentication-url': { input: () => ({}) },
  'auth/oauth/validate-code': { input: () => ({ token: 't', state: 's', nonce: 'n' }) },
  'auth/github-oauth/get-authentication-url': { input: () => ({}) },
  'auth/github-oauth/validate-code': { input: () => ({ code: 'c', state: 's' }) },
  'auth/second-factor/verify': { input: () => ({ ticket: 'a'.repeat(43), code: '123456' }) },
  'auth/passkey/options': { input: () => ({}) },
  'auth/passkey/verify': { input: () => ({ assertion: NO_ASSERTION }) },
  'analytics/event': { input: () => ({ type: 'event', host: 'walk', visitor: 'walk', name: 'nothing' }) },
  'stream-ticket': { input: () => ({}) },
  'client/create': { input: () => ({ name: 'walk' }) },
  'client/edit': { input: () => ({ newName: 'walked' }) },
  'client/leave': { input: () => ({}) },
  'client/role/list': { input: () => ({}) },
  'client/member/list': { input: () => ({}) },
  'client/member/edit': { input: ({ member }) => ({ userId: member, role: 'Guest' }), foreign: 404 },
  'client/member/remove': { input: ({ member }) => ({ userId: member }), foreign: 404 },
  'client/invite/create': { input: () => ({ role: 'Guest' }) },
  'client/invite/list': { input: () => ({}) },
  'client/invite/revoke': { input: ({ invite }) => ({ id: invite }), foreign: 404 },
  'client/invite/view': { input: () => ({ code: 'walk' }) },
  'client/join': { input: () => ({ code: 'walk' }) },
  'project/list': { input: () => ({}) },
  'project/view': { input: ({ project }) => ({ id: project }), foreign: 404 },
  'project/form': { input: () => ({}) },
  'project/create': { input: () => ({ title: 'walk', slug: 'walked-project' }) },
  'project/edit': { input: ({ project }) => ({ id: project, title: 'mine now' }), foreign: 404 },
  'project/archive': { input: ({ project }) => ({ id: project }), foreign: 404 },
  'project/unarchive': { input: ({ project }) => ({ id: project }), foreign: 404 },
  'project/deletion/view': { input: ({ project }) => ({ id: project }), foreign: 404 },
  'project/delete': { input: ({ project }) => ({ id: project, slugTyped: 'walked-project' }), foreign: 404 },
  'project/import': { input: ({ project }) => ({ id: project, url: 'https://git.example/walk.git' }), foreign: 404 },
  'project/import/cancel': { input: ({ project }) => ({ id: project }), foreign: 404 },
  'project/instance/list': { input: ({ project }) => ({ projectRef: { id: project } }), foreign: 404 },
  'project/instance/attach': {
    input: ({ project, own }) => ({ projectRef: { id: project }, instanceRef: { id: own } }),
    foreign: 404,
  },
  'project/instance/detach': {
    input: ({ project, attached }) => ({ projectRef: { id: project }, instanceRef: { id: attached } }),
    foreign: 404,
  },
  'project/activity/list': { input: ({ project }) => ({ projectRef: { id: project } }), foreign: 404 },
  'task/list': { input: ({ project }) => ({ projectRef: { id: project } }), foreign: 404 },
  'task/view': { input: ({ task }) => ({ id: task }), foreign: 404 },
  'task/form': { input: ({ project }) => ({ projectRef: { id: project } }), foreign: 404 },
  'task/create': { input: (ids) => aTaskOf(ids), foreign: 400 },
  'task/cancel': { input: ({ task }) => ({ id: task }), foreign: 404 },
  'task/rerun': { input: ({ task }) => ({ id: task }), foreign: 404 },
  'task/favorite': { input: ({ task }) => ({ id: task, favorite: true }), foreign: 404 },
  'task/output/list': { input: ({ task }) => ({ id: task }), foreign: 404 },
  'task/output/download-link': { input: ({ task }) => ({ id: task, key: 'k' }), foreign: 404 },
  'task/output/preview-link': { input: ({ task }) => ({ id: task, key: 'k' }), foreign: 404 },
  'task/schedule/list': { input: ({ project }) => ({ projectRef: { id: project } }), foreign: 404 },
  'task/schedule/view': { input: ({ schedule }) => ({ id: schedule }), foreign: 404 },
  'task/schedule/create': {
    input: (ids) => ({ ...aTaskOf(ids), title: 'walk', cron: '0 2 * * *', timeZone: 'UTC' }),
    foreign: 400,
  },
  'task/schedule/edit': { input: ({ schedule }) => ({ id: schedule, title: 'mine now' }), foreign: 404 },
  'task/schedule/delete': { input: ({ doomedSchedule }) => ({ id: doomedSchedule }), foreign: 404 },
  'storage/list': { input: () => ({}) },
  'storage/view': { input: ({ storage }) => ({ id: storage }), foreign: 404 },
  'storage/form': { input: () => ({}) },
  'storage/create': { input: () => ({ title: 'walk', slug: 'walked-storage', sizeGb: 1, location: 'local' }) },
  'storage/edit': { input: ({ storage }) => ({ id: storage, title: 'mine now' }), foreign: 404 },
  'storage/delete': { input: ({ storage }) => ({ id: storage, slugTyped: 'walked-storage' }), foreign: 404 },
  'storage/usage': { input: ({ storage }) => ({ id: storage }), foreign: 404 },
  'storage/key/list': { input: ({ storage }) => ({ id: storage }), foreign: 404 },
  'storage/key/create': { input: ({ storage }) => ({ id: storage, title: 'k', mode: 'read-only' }), foreign: 404 },
  'storage/key/rotate': { input: ({ storage, storageKey }) => ({ id: storage, keyId: storageKey }), foreign: 404 },
  'storage/key/revoke': { input: ({ storage, storageKey }) => ({ id: storage, keyId: storageKey }), foreign: 404 },
  'storage/object/list': { input: ({ storage }) => ({ id: storage }), foreign: 404 },
  'storage/object/upload-link': { input: ({ storage }) => ({ id: storage, key: 'k' }), foreign: 404 },
  'storage/object/download-link': { input: ({ storage }) => ({ id: storage, key: 'k' }), foreign: 404 },
  'storage/object/preview-link': { input: ({ storage }) => ({ id: storage, key: 'k' }), foreign: 404 },
  'storage/share-link/list': { input: ({ storage }) => ({ id: storage }), foreign: 404 },
  'storage/share-link/create': { input: ({ storage }) => ({ id: storage, key: 'k' }), foreign: 404 },
  'storage/share-link/revoke': {
    input: ({ storage, shareLink }) => ({ id: storage, shareLinkId: shareLink }),
    foreign: 404,
  },
  'project/code/tree': { input: ({ project }) => ({ id: project }), foreign: 404 },
  'project/code/blob': { input: ({ project }) => ({ id: project, path: 'README.md' }), foreign: 404 },
  'project/code/commit': { input: ({ project }) => ({ id: project }), foreign: 404 },
  'project/code/commits': { input: ({ project }) => ({ id: project }), foreign: 404 },
  'project/code/refs': { input: ({ project }) => ({ id: project, kind: 'branch' }), foreign: 404 },
  'project/code/search': { input: ({ project }) => ({ id: project, query: 'word' }), foreign: 404 },
  'project/code/blame': { input: ({ project }) => ({ id: project, path: 'README.md' }), foreign: 404 },
  'storage/object/delete': { input: ({ storage }) => ({ id: storage, keys: ['k'] }), foreign: 404 },
  'storage/object/multipart-begin': {
    input: ({ storage }) => ({ id: storage, key: 'k', sizeBytes: 1 }),
    foreign: 404,
  },
  'storage/object/multipart-part-links': {
    input: ({ storage, upload }) => ({ id: storage, key: 'k', uploadId: upload, partNumbers: [1] }),
    foreign: 404,
  },
  'storage/object/multipart-list': { input: ({ storage }) => ({ id: storage }), foreign: 404 },
  'storage/object/multipart-complete': {
    input: ({ storage, upload }) => ({ id: storage, key: 'k', uploadId: upload }),
    foreign: 404,
  },
  'storage/object/multipart-abort': {
    input: ({ storage, upload }) => ({ id: storage, key: 'k', uploadId: upload }),
    foreign: 404,
  },
  'api-token/list': { input: () => ({}) },
  'api-token/create': { input: () => ({ description: 'walk' }) },
  'api-token/archive': { input: ({ apiToken }) => ({ id: apiToken }), foreign: 404 },
  'api-token/cli/check': { input: () => ({ clientVersion: '1.0.0' }) },
  'auth/session/list': { input: () => ({}) },
  'auth/session/revoke': { input: ({ session }) => ({ id: session }), foreign: 404 },
  'auth/identity/list': { input: () => ({}) },
  'auth/identity/begin': { input: () => ({ provider: 'github' }) },
  'auth/identity/connect': { input: () => ({ provider: 'github', code: 'c', state: 's' }) },
  'auth/identity/disconnect': { input: () => ({ provider: 'github' }) },
  'authorization/oauth/pkce/get-authorization-code': { input: () => ASKED },
  'authorization/oauth/pkce/view': { input: () => ASKED },
  'authorization/consent/list': { input: () => ({}) },
  'authorization/consent/revoke': { input: ({ consent }) => ({ id: consent }), foreign: 404 },
  'auth/second-factor/view': { input: () => ({}) },
  'auth/step-up/begin': { input: () => ({}) },
  'auth/step-up/options': { input: () => ({}) },
  'auth/step-up': { input: () => ({ code: '12345678' }) },
  'auth/totp/begin': { input: () => ({}) },
  'auth/totp/confirm': { input: () => ({ code: '123456' }) },
  'auth/totp/remove': { input: () => ({}) },
  'auth/recovery-codes/create': { input: () => ({}) },
  'auth/passkey/list': { input: () => ({}) },
  'auth/passkey/add-options': { input: () => ({}) },
  'auth/passkey/add': { input: () => ({ name: 'k', attestation: NO_PASSKEY }) },
  'auth/passkey/edit': { input: ({ passkey }) => ({ id: passkey, name: 'mine now' }), foreign: 404 },
  'auth/passkey/remove': { input: ({ passkey }) => ({ id: passkey }), foreign: 404 },
  'user/profile': { input: () => ({}) },
  'user/add-password': { input: () => ({ password: 'Another-horse-8' }) },
  'auth/email/change-password': {
    input: () => ({ currentPassword: 'Correct-horse-7', newPassword: 'Another-horse-8' }),
  },
  'auth/email/change-email': { input: () => ({ newEmail: 'elsewhere@example.com' }) },
  'auth/email/confirm-new-email': { input: () => ({ code: '12345678' }) },
  'user/deletion': { input: () => ({}) },
  'user/delete': { input: () => ({ email: 'somebody-else@example.com' }) },
  'user/add-full-name': { input: () => ({ name: 'mine now' }) },
  'user/signup-form': { input: () => ({ name: 'mine now', phone: '+44 20 7946 0000' }) },
  'user/edit': { input: () => ({ theme: 'dark' }) },
  'getting-started/view': { input: () => ({}) },
  'getting-started/edit': { input: () => ({ logSeen: true }) },
  'billing/balance': { input: () => ({}) },
  'billing/zero/view': { input: () => ({}) },
  'billing/resume': { input: ({ instance }) => ({ instanceIds: [instance] }), foreign: 404 },
  'billing/usage/list': { input: () => ({}) },
  'billing/usage/export': { input: () => ({}) },
  'v2/billing/transaction-list': { input: () => ({}) },
  'v2/billing/transaction/view': { input: ({ transaction }) => ({ id: transaction }), foreign: 404 },
  'promo-code/activate': { input: () => ({ promoCode: 'NOTTHERE' }) },
  'admin/promo-code/create': {
    input: () => ({ code: 'WALKED', amount: '1', uses: 1, expiresAt: '2100-01-01T00:00:00Z' }),
  },
  'admin/promo-code/list': { input: () => ({}) },
  'admin/promo-code/revoke': { input: ({ promoCode }) => ({ id: promoCode }) },
  'admin/ledger/verify': { input: () => ({}) },
  'admin/ledger/list': { input: () => ({}) },
  'hardware/offer/list': { input: () => ({}) },
  'ssh-key/list': { input: () => ({}) },
  'ssh-key/add': { input: () => ({ title: 'k', publicKey: 'ssh-ed25519 AAAA' }) },
  'ssh-key/generate': { input: () => ({ title: 'generated' }) },
  'ssh-key/delete': { input: ({ sshKey }) => ({ id: sshKey }), foreign: 404 },
  'instance-rented/list': { input: () => ({}) },
  'instance-rented/view': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/rent': {
    input: ({ sshKey }) => ({ offerId: 'x', title: 't', slug: 'walk', sshKeyId: sshKey }),
    foreign: 400,
  },
  'instance-rented/edit': { input: ({ instance }) => ({ id: instance, title: 'mine now' }), foreign: 404 },
  'instance-rented/start': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/stop': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/reboot': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/terminate': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/activity/list': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/ssh-key/list': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'instance-rented/ssh-key/add': {
    input: ({ instance, sshKey }) => ({ id: instance, sshKeyId: sshKey }),
    foreign: 404,
  },
  'instance-rented/ssh-key/remove': {
    input: ({ instance, sshKey }) => ({ id: instance, sshKeyId: sshKey }),
    foreign: 404,
  },
  'instance-rented/metrics': { input: ({ instance }) => ({ id: instance }), foreign: 404 },
  'self-hosted-instance/list': { input: () => ({}) },
  'self-hosted-instance/view': { input: ({ own }) => ({ id: own }), foreign: 404 },
  'self-hosted-instance/create': { input: () => ({ title: 't', slug: 'walk-own' }) },
  'self-hosted-instance/reissue-token': { input: ({ own }) => ({ id: own }), foreign: 404 },
  'self-hosted-instance/edit': { input: ({ own }) => ({ id: own, title: 'mine now' }), foreign: 404 },
  'self-hosted-instance/delete': { input: ({ own }) => ({ id: own }), foreign: 404 },
  'self-hosted-instance/metrics': { input: ({ own }) => ({ id: own }), foreign: 404 },
  'self-hosted-instance/activity/list': { input: ({ own }) => ({ id: own }), foreign: 404 },
  'docker-container/list': { input: ({ instance }) => ({ instanceRef: { id: instance } }), foreign: 404 },
  'docker-container/view': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/create': {
    input: ({ instance }) => ({
      instanceRef: { id: instance },
      title: 't',
      slug: 'walk-container',
      dockerImage: 'busybox',
      cpus: 1,
    }),
    foreign: 404,
  },
  'docker-container/edit': { input: ({ container }) => ({ ref: { id: container }, cpus: 0.2 }), foreign: 404 },
  'docker-container/undo-edit': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/start': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/stop': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/restart': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/delete': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/metrics': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/port/enter': {
    input: ({ containerSlug }) => ({ slug: containerSlug, returnUrl: 'https://elsewhere.example/' }),
    foreign: 404,
    asksThere: true,
  },
  'docker-container/port/edit': {
    input: ({ container }) => ({ ref: { id: container }, portMappings: [{ host: 8080, visibility: 'public' }] }),
    foreign: 404,
  },
  'docker-container/file/list': {
    input: ({ container }) => ({ id: container, volume: '/data' }),
    foreign: 404,
  },
  'docker-container/file/view': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/file/read': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/file/write': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a', text: 't', etag: null }),
    foreign: 404,
  },
  'docker-container/file/mkdir': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/file/rename': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a', newPath: 'b' }),
    foreign: 404,
  },
  'docker-container/file/delete': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/file/upload': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a', sizeBytes: 1 }),
    foreign: 404,
  },
  'docker-container/file/discard-upload': {
    input: ({ container }) => ({
      id: container,
      volume: '/data',
      path: 'a',
      uploadId: '00000000-0000-4000-8000-000000000001',
    }),
    foreign: 404,
  },
  'docker-container/file/download': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/file/preview-link': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/image/list': { input: ({ instance }) => ({ instanceRef: { id: instance } }), foreign: 404 },
  'docker-container/image/remove': {
    input: ({ instance }) => ({ instanceRef: { id: instance }, reference: 'busybox:latest' }),
    foreign: 404,
  },
  'docker-container/image/prune': {
    input: ({ instance }) => ({ instanceRef: { id: instance }, dryRun: true }),
    foreign: 404,
  },
  'docker-container/registry/list': { input: () => ({}) },
  'docker-container/registry/add': { input: () => ({ host: 'ghcr.io', username: 'walk', secret: 'walk' }) },
  'docker-container/registry/remove': { input: ({ registry }) => ({ id: registry }), foreign: 404 },
  'docker-container/template/list': { input: () => ({}) },
  'docker-container/template/create': {
    input: ({ container }) => ({ containerRef: { id: container }, title: 'walk' }),
    foreign: 404,
  },
  'docker-container/template/delete': { input: ({ template }) => ({ id: template }), foreign: 404 },
  'client/audit/list': { input: () => ({}) },
  'client/audit/actor/list': { input: () => ({}) },
  'client/audit/export': { input: () => ({}) },
  'client/audit/verify': { input: () => ({}) },
  'admin/user/list': { input: () => ({}) },
  'admin/user/view': { input: ({ member }) => ({ id: member }) },
  'admin/user/disable': { input: ({ member }) => ({ id: member, reason: 'walk' }) },
  'admin/user/enable': { input: ({ member }) => ({ id: member }) },
  'admin/client/list': { input: () => ({}) },
  'admin/client/view': { input: () => ({ id: 1 }) },
  'admin/client/disable': { input: () => ({ id: 1, reason: 'walk' }) },
  'admin/client/enable': { input: () => ({ id: 1 }) },
  'admin/audit/list': { input: () => ({}) },
  'admin/audit/actor/list': { input: () => ({}) },
  'admin/audit/export': { input: () => ({}) },
  'admin/audit/verify': { input: () => ({}) },
  'admin/audit/check-all': { input: () => ({}) },
  'admin/audit/check/list': { input: () => ({}) },
  'admin/provider/list': { input: () => ({}) },
  'admin/provider/check': { input: () => ({ provider: 'nowhere' }) },
  'admin/feedback/list': { input: () => ({}) },
  'admin/feedback/view': { input: () => ({ id: 999_999_908 }) },
  'admin/feedback/image/view': { input: () => ({ id: 999_999_908, position: 0 }) },
  'admin/stray/list': { input: () => ({}) },
  'admin/stray/adopt': {
    input: ({ stray }) => ({ id: stray, workspaceId: 1, offerId: 'x:y', title: 't', slug: 'walk-stray' }),
  },
  'admin/stray/delete': { input: ({ stray }) => ({ id: stray }) },
  'user-feedback/send/default': {
    input: () => ({ topic: 'Ask a question', subject: 's', description: 'd', imageUploads: [] }),
  },
  'logging/query': {
    input: ({ container }) => ({ source: { type: 'docker-container', id: container } }),
    foreign: 404,
  },
};

export const ABSENT: Ids = {
  instance: 999_999_901,
  own: 999_999_902,
  container: 999_999_903,
  sshKey: 999_999_904,
  transaction: 999_999_999,
  promoCode: 999_999_999,
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
  registry: 999_999_918,
};

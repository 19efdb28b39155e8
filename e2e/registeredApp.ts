/** An app of others that every platform of the stories knows. */
export const STORY_APP = {
  clientId: 'story-app',
  name: 'Story app',
  redirectUris: ['http://127.0.0.1/callback'],
  permissions: ['INSTANCE_RENTED'],
};

/** The query of its link. */
export const STORY_APP_ASKS = new URLSearchParams({
  client_id: STORY_APP.clientId,
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  redirect_uri: 'http://127.0.0.1:49152/callback',
  response_type: 'code',
  state: 'of the story app',
}).toString();

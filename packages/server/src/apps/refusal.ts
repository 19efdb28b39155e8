import { PublicError } from '../http/errors.ts';

/** RFC 6749 5.2. */
export type OauthError = 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type';

/** A refusal in the words of OAuth, beside the members that every refusal of ours has. */
export class OauthRefusal extends PublicError {
  constructor(error: OauthError, description: string, status: 400 | 401 = 400) {
    super(status, description);
    this.name = 'OauthRefusal';
    Object.assign(this.body, { error, error_description: description });
  }
}

import { PublicError } from '../http/errors.ts';

/** RFC 6749 5.2. */
export type OauthErrorCode = 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type';

/** An error with OAuth's members beside those that all our errors have. */
export class OauthError extends PublicError {
  constructor(error: OauthErrorCode, description: string, status: 400 | 401 = 400) {
    super(status, description);
    this.name = 'OauthError';
    Object.assign(this.body, { error, error_description: description });
  }
}

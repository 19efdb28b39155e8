/**
 * The codes of the S3 API that this service answers, with the HTTP status and the message that S3 gives them.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
const CODES = {
  AccessControlListNotSupported: [400, 'The bucket does not allow ACLs'],
  AccessDenied: [403, 'Access Denied'],
  AuthorizationHeaderMalformed: [400, 'The authorization header is malformed'],
  AuthorizationQueryParametersError: [400, 'The query parameters of the signature are not valid'],
  BadDigest: [400, 'The Content-MD5 or checksum value that you specified did not match what the server received'],
  BucketAlreadyExists: [409, 'The requested bucket name is not available'],
  BucketAlreadyOwnedByYou: [409, 'The bucket that you tried to create already exists, and you own it'],
  BucketNotEmpty: [409, 'The bucket you tried to delete is not empty'],
  CORSForbidden: [403, 'This CORS request is not allowed'],
  ConditionalRequestConflict: [409, 'A conflicting operation occurred'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed object size'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size'],
  IncompleteBody: [400, 'You did not provide the number of bytes specified by the Content-Length HTTP header'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  InvalidAccessKeyId: [403, 'The access key ID you provided does not exist in our records'],
  InvalidArgument: [400, 'Invalid Argument'],
  InvalidBucketName: [400, 'The specified bucket is not valid'],
  InvalidDigest: [400, 'The Content-MD5 or checksum value that you specified is not valid'],
  InvalidPart: [400, 'One or more of the specified parts could not be found, or its ETag did not match'],
  InvalidPartOrder: [400, 'The list of parts was not in ascending order'],
  InvalidRange: [416, 'The requested range is not satisfiable'],
  InvalidPartNumber: [416, 'The requested partnumber is not satisfiable'],
  InvalidRequest: [400, 'Invalid Request'],
  InvalidStorageClass: [400, 'The storage class you specified is not valid'],
  InvalidTag: [400, 'The tag that you provided is not valid'],
  InvalidURI: [400, 'The specified URI could not be parsed'],
  KeyTooLongError: [400, 'Your key is too long'],
  MalformedXML: [400, 'The XML you provided was not well-formed or did not validate against our published schema'],
  MetadataTooLarge: [400, 'Your metadata headers exceed the maximum allowed metadata size'],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header'],
  // None of S3's own, which answers for every name.
  MisdirectedRequest: [421, 'This service does not answer for this host'],
  NoSuchBucket: [404, 'The specified bucket does not exist'],
  NoSuchBucketPolicy: [404, 'The bucket policy does not exist'],
  NoSuchCORSConfiguration: [404, 'The CORS configuration does not exist'],
  NoSuchKey: [404, 'The specified key does not exist'],
  NoSuchLifecycleConfiguration: [404, 'The lifecycle configuration does not exist'],
  NoSuchTagSet: [404, 'The TagSet does not exist'],
  NoSuchWebsiteConfiguration: [404, 'The specified bucket does not have a website configuration'],
  NoSuchUpload: [404, 'The specified multipart upload does not exist'],
  NoSuchVersion: [404, 'The specified version does not exist'],
  NotImplemented: [501, 'A header or query you provided implies functionality that is not implemented'],
  ObjectLockConfigurationNotFoundError: [404, 'Object Lock configuration does not exist for this bucket'],
  PreconditionFailed: [412, 'At least one of the preconditions that you specified did not hold'],
  QuotaExceeded: [403, 'The storage is full: make it larger or delete objects'],
  RequestTimeTooSkewed: [403, 'The difference between the request time and the server’s time is too large'],
  RequestTimeout: [400, 'Your socket connection to the server was not read from or written to within the timeout'],
  ServiceUnavailable: [503, 'Please reduce your request rate or try again in a moment'],
  ServerSideEncryptionConfigurationNotFoundError: [404, 'The server side encryption configuration was not found'],
  SignatureDoesNotMatch: [403, 'The request signature we calculated does not match the signature you provided'],
  SlowDown: [503, 'Please reduce your request rate'],
  TooManyParts: [400, 'An upload has at most 10,000 parts'],
  UnexpectedContent: [400, 'This request does not support content'],
  XAmzContentChecksumMismatch: [400, 'The checksum you provided does not match what the server received'],
  XAmzContentSHA256Mismatch: [400, 'The provided x-amz-content-sha256 header does not match what was computed'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type S3ErrorCode = keyof typeof CODES;

/** An error that a client of the S3 API is told. */
export class S3Error extends Error {
  readonly code: S3ErrorCode;
  readonly status: number;
  /** Further elements of the XML answer, such as `BucketName`. */
  readonly details: Readonly<Record<string, string>>;

  constructor(code: S3ErrorCode, message?: string, details: Record<string, string> = {}, options?: ErrorOptions) {
    const [status, usual] = CODES[code];
    super(message ?? usual, options);
    this.name = 'S3Error';
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

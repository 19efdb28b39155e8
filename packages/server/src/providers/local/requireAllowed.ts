/**
 * Who rents a machine of the local cloud can become root on this machine. So it runs only when the platform's address is
 * loopback, or when the operator has enabled it. Throws otherwise.
 */
export function requireLocalCloudAllowed(options: { originIsLoopback: boolean; allowed: boolean }): void {
  if (options.originIsLoopback || options.allowed) return;
  throw new Error(
    'The local cloud gives everybody who rents from it the power of root on this machine, so it is off while APP_ORIGIN ' +
      'is not a loopback address. Set LOCAL_CLOUD=on if you trust everybody who can sign up.',
  );
}

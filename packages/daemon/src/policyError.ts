/** A container that the policy of this server forbids; the message is for the person who created it. */
export class PolicyError extends Error {}

/** Replaces packages in the bundle that dockerode imports and the daemon never uses. */
export default {};

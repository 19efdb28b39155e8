/** Stands in the bundle for packages that are loaded and never used. */
export default {};

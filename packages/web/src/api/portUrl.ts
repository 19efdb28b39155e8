/** The address at which the platform shows a port of a container. */
export function portUrl(appsOrigin: string, slug: string, port: number): string {
  const { protocol, host } = new URL(appsOrigin);
  return `${protocol}//${slug}-${port}.${host}/`;
}

export function refuseReadOnly(missing: string, ...paths: string[]): void;
export function mayWrite(path: string): boolean;

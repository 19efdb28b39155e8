/** Node's flags for the daemon: trust the system's certificate authorities, and keep the heap small under load. */
export const FLAGS = ['--use-system-ca', '--max-semi-space-size=2', '--max-old-space-size=128'];

/** What the daemon runs Node with: corporate roots count too; small spaces keep it small however much it carries. */
export const FLAGS = ['--use-system-ca', '--max-semi-space-size=2', '--max-old-space-size=128'];

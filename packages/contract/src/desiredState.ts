import { z } from 'zod';
import { CapabilitySet, RestartPolicy, STOP_GRACE } from './containerFields.ts';
import { Id } from './page.ts';

export const COMMAND_AUDIENCE = 'stagi-daemon-command';

/**
 * What makes a container the run of a task: the daemon puts files in before its only start, and uploads its output after
 * its end. Such a container is started at most once, whatever its generation, and never created again after its start.
 */
export const DesiredTask = z.object({
  /** Authenticates the calls of `taskTransfer.ts` for this run alone; it never enters the container. */
  token: z.string(),
  /** Absolute directories in the container. The files of the commit; where the command is run. */
  codePath: z.string(),
  /** The input files. */
  inputPath: z.string(),
  /** What is uploaded. It is made before the start; what the commit or the image has in it is uploaded too. */
  outputPath: z.string(),
  /** From its start until it is stopped; null: no limit. */
  timeLimitSeconds: z.number().int().positive().nullable(),
});
export type DesiredTask = z.infer<typeof DesiredTask>;

/** The desired state of a container. `gen` counts its changes; a lower one is stale. */
export const DesiredContainer = z.object({
  id: Id,
  gen: z.number().int(),
  /**
   * Names the specification: a container that was created under another number is recreated. Starts and stops keep it.
   * A number is never used for two specifications of a container. Earlier platforms leave it out: 1.
   */
  specNo: z.number().int().min(1).optional(),
  slug: z.string(),
  /** `paused`: as running, with its processes frozen once it runs. Only containers with a `task` are paused. */
  state: z.enum(['running', 'paused', 'stopped', 'absent']),
  /**
   * The time that its programs have to end when it is stopped, in seconds. No part of the specification: a change
   * recreates nothing. Earlier platforms leave it out: 10. One that is to be absent is not waited for.
   */
  stopGraceSeconds: z.number().int().min(0).max(STOP_GRACE.most).optional(),
  /** With it, `spec.command` is one line that `/bin/sh -c` runs in `codePath`, in place of the image's entrypoint. */
  task: DesiredTask.optional(),
  spec: z.object({
    image: z.string(),
    /** Argument vector; null: the image's own. */
    command: z.array(z.string()).nullable(),
    /** `secret`: the daemon masks the value in the log. */
    env: z.array(z.object({ name: z.string(), value: z.string(), secret: z.boolean().optional() })),
    nanoCpus: z.number().int(),
    memoryBytes: z.number().int().nullable(),
    gpuIds: z.array(z.number().int()),
    ports: z.array(
      z.object({
        host: z.number().int(),
        container: z.number().int(),
        /** Public: bound to the address of the server's policy; else to loopback. Earlier platforms leave it out: public. */
        public: z.boolean().optional(),
      }),
    ),
    directories: z.array(z.object({ host: z.string(), container: z.string() })),
    restartPolicy: RestartPolicy,
    /** In place of the image's own; left out: that. */
    entrypoint: z.array(z.string()).min(1).optional(),
    /** Left out: the image's own. */
    user: z.string().optional(),
    /** Left out: the hardened set. */
    capabilities: CapabilitySet.optional(),
    /** Left out: 1 GiB. */
    shmBytes: z.number().int().optional(),
    /** Left out: the image's own, if any. */
    healthCheck: z
      .object({
        command: z.string(),
        intervalSeconds: z.number(),
        timeoutSeconds: z.number(),
        retries: z.number(),
        startPeriodSeconds: z.number(),
      })
      .optional(),
  }),
});
export type DesiredContainer = z.infer<typeof DesiredContainer>;

/** The signed desired state of one node (JWS compact, EdDSA by the pinned command key, `typ` `desired+jwt`). */
export const DesiredState = z.object({
  aud: z.literal(COMMAND_AUDIENCE),
  node: z.string(),
  /** Grows with every change of the node; an older one than applied is ignored. */
  gen: z.number().int(),
  iat: z.number(),
  exp: z.number(),
  /** Containers with our label that are not listed are left alone and reported. */
  containers: z.array(DesiredContainer),
  /** Lines for root's authorized_keys between our markers; null: not ours to manage. */
  sshKeys: z.array(z.string()).nullable(),
});
export type DesiredState = z.infer<typeof DesiredState>;

/** A signed one-time command (`typ` `command+jwt`), idempotent: the daemon journals `id` and answers repeats from there. */
export const Command = z.object({
  aud: z.literal(COMMAND_AUDIENCE),
  node: z.string(),
  id: z.string(),
  iat: z.number(),
  exp: z.number(),
  do: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('restart'), containerId: Id }),
    /** Leave the platform: remove our containers (when asked) and the key, and exit. */
    z.object({ kind: z.literal('leave'), removeContainers: z.boolean() }),
    /** Takes one reference to an image away, and the image with its last one; refused while a container needs it. */
    z.object({ kind: z.literal('image-remove'), reference: z.string().max(500) }),
    /** Removes all images that nothing needs; `dryRun`: tells which. */
    z.object({ kind: z.literal('image-prune'), dryRun: z.boolean() }),
  ]),
});
export type Command = z.infer<typeof Command>;

/** What a command about images has removed, or would remove. */
export const CommandOutcome = z.object({
  references: z.array(z.string().max(500)).max(1000),
  bytes: z.number().min(0),
});
export type CommandOutcome = z.infer<typeof CommandOutcome>;

import { access } from 'node:fs/promises';
import { GENERIC_ERROR } from '@stagi/contract/errors.ts';
import type { PushedRef } from '@stagi/contract/projects.ts';
import type { Context } from '../context.ts';
import { unavailable } from '../http/errors.ts';
import { findProjectForGit, type GitCaller, type GitProject } from '../projects/gitAccess.ts';
import { recordPush } from '../projects/recordPush.ts';
import { asPerson } from '../slots/holder.ts';
import { landedRefs, syncRepository } from './afterPush.ts';
import { type GitProcess, isVersion2, type Service, startGitProcess } from './gitService.ts';
import type { Hosting } from './hosting.ts';
import { decidePush } from './pushRules.ts';
import { GitRefusal, noSuchProject } from './refusal.ts';
import { checkWanted } from './wantedObjects.ts';

/** Who asks for what. */
export interface GitRequest {
  clientId: number;
  slug: string;
  service: Service;
  /** Asked anew at each check: what names the caller may end meanwhile. */
  who(): Promise<GitCaller>;
  via: 'https' | 'ssh';
}

const wants = (service: Service) => (service === 'git-receive-pack' ? 'push' : 'read');

/** The project, if the caller may do this with it now; else throws what the client is told. */
export async function authorizeGit(ctx: Context, { clientId, slug, service, who }: GitRequest): Promise<GitProject> {
  const found = await findProjectForGit(ctx, { clientId, slug, who: await who(), wants: wants(service) });
  switch (found.outcome) {
    case 'allowed':
      await access(found.project.dir).catch((cause: unknown) => {
        // Its row comes first, its folder within a second.
        throw unavailable(cause);
      });
      return found.project;
    case 'refused':
      throw new GitRefusal(403, `${found.message}.`);
    case 'unauthenticated':
      throw new GitRefusal(401, 'Give an API token as password, with any user name.');
    case 'not-found':
      throw noSuchProject();
  }
}

/** Whether the right to a running transfer still exists. What only changed for new ones does not end it. */
export async function mayGoOn(ctx: Context, { clientId, slug, who }: GitRequest, projectId: number): Promise<boolean> {
  const found = await findProjectForGit(ctx, { clientId, slug, who: await who(), wants: 'read' });
  return found.outcome === 'allowed' && found.project.id === projectId;
}

export interface Served {
  git: GitProcess;
  isPush: boolean;
  /** Passes on to git what its client sends. Throws GitRefusal for what git must not be asked. */
  checkInput(input: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  /** Whether git has been told that it may change the repository: what it answers from now on waits for `settled`. */
  isAccepted(): boolean;
  /** To be awaited once git has ended, also when the client has left: then what was pushed is safe on disk and recorded. */
  settled(): Promise<void>;
}

/** Starts the git process of a request that was authorized. */
export function serveGit(
  { ctx, pending, graphs }: Hosting,
  request: GitRequest,
  project: GitProject,
  { options, protocol }: { options: readonly string[]; protocol: string | undefined },
): Served {
  const { dir } = project;
  if (request.service === 'git-upload-pack') {
    const git = startGitProcess({ dir, service: request.service, options: ['--strict', ...options], protocol });
    const checkInput = (input: AsyncIterable<Buffer>) => {
      if (!isVersion2(protocol)) return input;
      return checkWanted(ctx.repositories.at(project.repository, asPerson(project.userId, project.workspaceId)), input);
    };
    return { git, isPush: false, checkInput, isAccepted: () => false, settled: async () => {} };
  }
  let accepted: { bytes: number; userId: number; refs: PushedRef[] } | null = null;
  const git = startGitProcess({
    dir,
    service: request.service,
    options,
    protocol,
    async decide(proposal) {
      try {
        // The right to push may have ended while the objects came in.
        const now = await authorizeGit(ctx, request);
        if (now.id !== project.id) throw noSuchProject();
        const reserved = pending.get(now.workspaceId) ?? 0;
        const room = now.roomBytes === null ? null : Math.max(0, now.roomBytes - reserved);
        const decision = await decidePush(now, room, proposal);
        if (!decision.accepted) return decision;
        pending.set(now.workspaceId, (pending.get(now.workspaceId) ?? 0) + decision.bytes);
        accepted = { bytes: decision.bytes, userId: now.userId, refs: decision.refs };
        return decision;
      } catch (error) {
        if (error instanceof GitRefusal) return { accepted: false, messages: [error.message] };
        ctx.log.error({ err: error, projectId: project.id }, 'a push could not be checked');
        return { accepted: false, messages: [GENERIC_ERROR] };
      }
    },
  });
  return {
    git,
    isPush: true,
    checkInput: (input) => input,
    isAccepted: () => accepted !== null,
    async settled() {
      if (!accepted) return;
      const { bytes, userId, refs } = accepted;
      try {
        const landed = await landedRefs(dir, refs);
        if (landed.length === 0) return;
        await syncRepository(dir, landed);
        await recordPush(ctx, { projectId: project.id, userId, via: request.via, refs: landed });
        graphs.write(dir);
      } catch (error) {
        // The commits are there; the maintenance loop notes them later.
        ctx.log.error({ err: error, projectId: project.id }, 'a push could not be recorded');
      } finally {
        const left = (pending.get(project.workspaceId) ?? 0) - bytes;
        if (left > 0) pending.set(project.workspaceId, left);
        else pending.delete(project.workspaceId);
      }
    },
  };
}

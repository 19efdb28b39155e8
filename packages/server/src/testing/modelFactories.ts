import type { Context } from '../context.ts';
import { next } from './factories.ts';
import type { Person } from './person.ts';

/** A model that a container of the owner serves. */
export async function aModelEndpoint(
  ctx: Context,
  owner: Person,
  { instanceId, containerId }: { instanceId: number; containerId: number },
): Promise<number> {
  const row = await ctx.db
    .insertInto('model_endpoint')
    .values({
      workspace_id: owner.workspaceId,
      title: `Model ${next()}`,
      model_id: 'Qwen/Qwen3-0.6B',
      model_title: 'Qwen3 0.6B',
      quality: 'original',
      precision: 'bf16',
      repository: 'Qwen/Qwen3-0.6B',
      engine: 'vllm',
      gpu_count: 1,
      host_port: 8080,
      container_port: 80,
      instance_id: instanceId,
      container_id: containerId,
      created_by: owner.userId,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await ctx.db
    .updateTable('model_endpoint')
    .set({ key_sealed: ctx.secrets.seal('sk-test', `model_endpoint|key|${row.id}`) })
    .where('id', '=', row.id)
    .execute();
  return row.id;
}

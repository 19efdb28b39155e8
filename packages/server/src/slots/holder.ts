import { networkOf } from '../http/network.ts';

/** Who holds slots. */
export interface Holder {
  /** Equal for all that counts together. */
  key: string;
  /** Waiting is fair among these: workspaces, or servers and addresses, which are in none. */
  turn: string;
  /** It has not authenticated. */
  isStranger: boolean;
}

export const asPerson = (userId: number, workspaceId: number | null): Holder => ({
  key: `user ${userId}`,
  turn: workspaceId === null ? `user ${userId}` : `workspace ${workspaceId}`,
  isStranger: false,
});

/** For what acts for a workspace, and for none of its members. */
export const asWorkspace = (id: number | string): Holder => ({
  key: `workspace ${id}`,
  turn: `workspace ${id}`,
  isStranger: false,
});

/** For what is opened with one access key of S3 by whoever has its link. */
export const asAccessKey = (id: string): Holder => ({
  key: `access key ${id}`,
  turn: `access key ${id}`,
  isStranger: false,
});

export const asServer = (instanceId: number, workspaceId: number): Holder => ({
  key: `server ${instanceId}`,
  turn: `workspace ${workspaceId}`,
  isStranger: false,
});

/** All who come from one address and have not authenticated. */
export const asStranger = (ip: string): Holder => {
  const network = networkOf(ip);
  return { key: `address ${network}`, turn: `address ${network}`, isStranger: true };
};

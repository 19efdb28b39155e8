import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { api } from '@stagi/contract/api.ts';
import { QueryObserver } from '@tanstack/react-query';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { setFailureHandlers } from './client.ts';
import { q, queryClient } from './query.ts';

const DEADLINE = { timeout: 60_000 };

describe('the refusal of what a page reads', () => {
  const told: string[] = [];
  let asked = 0;
  let status = 403;
  let held: ServerResponse | null = null;
  let holding = false;
  let server: Server;

  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume();
      asked += 1;
      if (holding) held = response;
      else answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    vi.stubGlobal('window', { location: new URL(origin) });
    vi.stubGlobal('localStorage', { getItem: () => null });
    setFailureHandlers({
      signedOut: () => told.push('signed out'),
      forbidden: () => told.push('/403'),
      notFound: () => told.push('/404'),
      stepUp: async () => told.push('step-up') === 0,
      workspaceGone: () => told.push('workspace gone'),
      message: (text) => told.push(text),
    });
  });
  afterEach(() => {
    queryClient.clear();
    told.length = 0;
    asked = 0;
    status = 403;
  });
  afterAll(() => {
    vi.unstubAllGlobals();
    server?.close();
  });

  const list = q(api.sshKeys.list, {});
  /** A screen that shows the list; answers how to leave it. */
  const mount = (options = list) => new QueryObserver(queryClient, options).subscribe(() => {});
  const settled = (n: number) => expect.poll(() => [asked, queryClient.isFetching()], DEADLINE).toEqual([n, 0]);

  it('navigates at the first load of a screen', async () => {
    const leave = mount();
    await settled(1);
    expect(told).toEqual(['/403']);
    leave();
  });

  it('says nothing for what is read ahead, and navigates once the screen is there', async () => {
    await queryClient.prefetchQuery(list);
    expect([asked, told]).toEqual([1, []]);
    const leave = mount();
    await settled(2);
    expect(told).toEqual(['/403']);
    leave();
  });

  it('navigates when the screen came while it was still being read ahead', async () => {
    status = 404;
    holding = true;
    const ahead = queryClient.prefetchQuery(list);
    await expect.poll(() => held !== null, DEADLINE).toBe(true);
    const leave = mount();
    holding = false;
    answer(held!);
    await ahead;
    await settled(1);
    expect(told).toEqual(['/404']);
    leave();
  });

  it('neither navigates when something was shown before, nor for the background', async () => {
    status = 200;
    const leave = mount();
    await settled(1);
    status = 404;
    await queryClient.refetchQueries({ queryKey: list.queryKey });
    await settled(2);
    leave();
    queryClient.clear();
    const leaveQuiet = mount(q(api.sshKeys.list, {}, { quiet: true }) as typeof list);
    await settled(3);
    expect(told).toEqual([]);
    leaveQuiet();
  });

  function answer(response: ServerResponse): void {
    const body =
      status === 200
        ? { isSuccess: true, entities: [], totalPages: 0, totalCount: 0 }
        : { isSuccess: false, message: 'No' };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }
});

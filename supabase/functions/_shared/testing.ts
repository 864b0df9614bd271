/** A server of its own for a test, standing for what a function calls. */
export interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly PeerRequest[];
}

export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

export function startPeer(
  answer: (request: PeerRequest) => Response | Promise<Response>,
): Peer {
  const requests: PeerRequest[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const received = {
        method: request.method,
        path: new URL(request.url).pathname,
        headers: request.headers,
        body: await request.text(),
      };
      requests.push(received);
      return await answer(received);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** An address where nobody listens. */
export function closedUrl(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}`;
}

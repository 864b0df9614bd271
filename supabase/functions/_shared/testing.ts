/** A server that a test runs in place of the database or a receiver. */
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

export function startPeer(answer: (request: PeerRequest) => Response | Promise<Response>): Peer {
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

/** An address without a listener. */
export function closedUrl(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}`;
}

/** The answer to a body that is sent byte by byte. */
export interface Trickled {
  status: number;
  body: string;
  /** Milliseconds from the first byte of the request to the last of the answer. */
  took: number;
}

/** Sends a body byte by byte with this pause, and never the last byte. */
export async function trickle(
  url: string,
  headers: Record<string, string>,
  every: number,
  form: "whole" | "chunked" = "whole",
): Promise<Trickled> {
  const { hostname, port, pathname } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const began = performance.now();
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    "Content-Type: application/json",
    form === "whole" ? "Content-Length: 100000" : "Transfer-Encoding: chunked",
    "Connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join("\r\n");
  const piece = (text: string) => form === "whole" ? text : `1\r\n${text}\r\n`;
  await connection.write(new TextEncoder().encode(`${head}\r\n\r\n${piece("[")}`));
  // A write may fail once the server has answered.
  const timer = setInterval(() => {
    connection.write(new TextEncoder().encode(piece(" "))).catch(() => clearInterval(timer));
  }, every);
  let text = "";
  try {
    const chunk = new Uint8Array(4096);
    for (;;) {
      const read = await connection.read(chunk);
      if (read === null) break;
      text += new TextDecoder().decode(chunk.subarray(0, read));
      // Stops when the answer is here: the server keeps the connection open for the rest of the request.
      if (text.includes("}")) break;
    }
  } finally {
    clearInterval(timer);
  }
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]),
    body: /\{.*\}/s.exec(text)?.[0] ?? "",
    took: performance.now() - began,
  };
}

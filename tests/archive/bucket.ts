import { createBucketOf, localBucket } from "../../local/bucket.ts";
import { bucketCommand } from "../../local/processes/bucket.ts";
import { findSystem } from "../../local/system.ts";
import { signedHeaders } from "../../supabase/functions/_shared/s3.ts";
import { eventually } from "../support/eventually.ts";

/** A request of the function to the bucket. */
export interface Asked {
  readonly method: string;
  readonly key: string;
}

/** Sends a request on to the bucket, its first bytes only if so many are given. */
export type Pass = (bytes?: number) => Promise<Response>;

/** What becomes of a request: undefined lets it through; null is no answer of a bucket. */
export type Fault = (asked: Asked, pass: Pass) => Promise<Response | null> | undefined;

/** What a test asks of a bucket. */
export interface PlainBucket {
  keys(): Promise<string[]>;
  remove(key: string): Promise<void>;
  put(key: string, body: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array>;
  versioning(status: "Enabled" | "Suspended"): Promise<void>;
}

/** A server of buckets at the address that the function knows, which can be made to fail. */
export interface TestBucket extends PlainBucket, AsyncDisposable {
  fault: Fault;
  readonly asked: Asked[];
  /** The address without faults. */
  readonly url: string;
  /** Nobody listens at the address, until it is back with what it held. */
  goAway(): Promise<void>;
  comeBack(): void;
}

export async function startBucket(): Promise<TestBucket> {
  const system = await findSystem();
  if (system === null) throw new Error("the stack that is tested runs on a system");
  const port = freePort();
  const [program, ...args] = bucketCommand(system, port);
  const server = new Deno.Command(program, {
    args,
    cwd: "/",
    env: { HOME: "/tmp" },
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `http://127.0.0.1:${port}/${localBucket}`;
  await eventually("the server of buckets", () => createBucketOf(port).catch(() => false));
  const asked: Asked[] = [];
  const answered = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const body = request.body === null ? undefined : await request.arrayBuffer();
    const pass: Pass = (bytes) => {
      const headers = new Headers(request.headers);
      for (const name of ["host", "content-length"]) headers.delete(name);
      return fetch(`http://127.0.0.1:${port}${pathname}${search}`, {
        method: request.method,
        headers,
        body: body?.slice(0, bytes),
      });
    };
    const one = {
      method: request.method,
      key: decodeURIComponent(pathname.slice(localBucket.length + 2)),
    };
    asked.push(one);
    const answer = await (bucket.fault(one, pass) ?? pass());
    // An answer that says too much is taken for none.
    return answer ?? new Response("", { status: 502 });
  };
  const listen = () =>
    Deno.serve({
      hostname: "127.0.0.1",
      port: Number(Deno.env.get("LOGLOOM_BUCKET_PORT")),
      onListen: () => {},
    }, answered);
  let proxy = listen();
  const bucket: TestBucket = {
    ...bucketAt(port),
    fault: () => undefined,
    asked,
    url,
    goAway: () => proxy.shutdown(),
    comeBack: () => void (proxy = listen()),
    [Symbol.asyncDispose]: async () => {
      await proxy.shutdown();
      server.kill("SIGTERM");
      await server.status;
    },
  };
  return bucket;
}

/** The bucket of a server at a port. */
export function bucketAt(port: number): PlainBucket {
  const url = `http://127.0.0.1:${port}/${localBucket}`;
  const key = { region: "us-east-1", accessKeyId: "local", secretAccessKey: "local" };
  const plain = async (method: string, path: string, body?: Uint8Array) => {
    const asking = { method, url: `${url}${path}`, body };
    const headers = signedHeaders({ ...asking, headers: {} }, key, new Date());
    const response = await fetch(asking.url, { method, headers, body: body as BodyInit });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
    return bytes;
  };
  return {
    keys: async () => {
      const text = new TextDecoder().decode(await plain("GET", "?list-type=2"));
      return [...text.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key);
    },
    get: (key) => plain("GET", `/${encoded(key)}`),
    put: async (key, body) => void await plain("PUT", `/${encoded(key)}`, body),
    remove: async (key) => void await plain("DELETE", `/${encoded(key)}`),
    versioning: async (status) =>
      void await plain(
        "PUT",
        "?versioning",
        new TextEncoder().encode(
          `<VersioningConfiguration><Status>${status}</Status></VersioningConfiguration>`,
        ),
      ),
  };
}

function encoded(key: string): string {
  return key.split("/").map(encodeURIComponent).join("/");
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

import { localBucket } from "../../local/bucket.ts";
import { type Bucket, startS3 } from "../support/s3_server.ts";

/** A request of the function to the bucket. */
export interface Asked {
  readonly method: string;
  readonly key: string;
}

/** Forwards a request to the bucket; with bytes, only the first bytes of its body. */
export type Pass = (bytes?: number) => Promise<Response>;

/** Decides the answer to a request. Undefined lets it through, null answers like a broken gateway. */
export type Fault = (asked: Asked, pass: Pass) => Promise<Response | null> | undefined;

/** An S3 server at the address that the function uses, which can be made to fail. */
export interface TestBucket extends Bucket, AsyncDisposable {
  fault: Fault;
  readonly asked: Asked[];
  /** The bucket's address without faults. */
  readonly url: string;
  /** Stops listening, until comeBack. The bucket keeps its objects. */
  goAway(): Promise<void>;
  comeBack(): void;
}

export async function startBucket(): Promise<TestBucket> {
  const server = await startS3(localBucket);
  const asked: Asked[] = [];
  const answered = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const body = request.body === null ? undefined : await request.arrayBuffer();
    const pass: Pass = (bytes) => {
      const headers = new Headers(request.headers);
      for (const name of ["host", "content-length"]) headers.delete(name);
      return fetch(`${server.url}${pathname}${search}`, {
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
    // This answer comes from a gateway, not from a bucket.
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
    ...server.bucket,
    fault: () => undefined,
    asked,
    url: `${server.url}/${localBucket}`,
    goAway: () => proxy.shutdown(),
    comeBack: () => void (proxy = listen()),
    [Symbol.asyncDispose]: async () => {
      await proxy.shutdown();
      await server[Symbol.asyncDispose]();
    },
  };
  return bucket;
}

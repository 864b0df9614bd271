import { bucketCommand, installBucket } from "../../local/processes/bucket.ts";
import { findSystem } from "../../local/system.ts";
import { signedHeaders } from "../../supabase/functions/_shared/s3.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free_port.ts";

/** A bucket, for tests. */
export interface Bucket {
  keys(): Promise<string[]>;
  remove(key: string): Promise<void>;
  put(key: string, body: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array>;
  versioning(status: "Enabled" | "Suspended"): Promise<void>;
}

export interface S3Server extends AsyncDisposable {
  readonly url: string;
  readonly bucket: Bucket;
}

/** moto, a server that speaks S3 and keeps its objects in memory, with an empty bucket. */
export async function startS3(name: string): Promise<S3Server> {
  await installBucket(console.log);
  const system = await findSystem();
  if (system === null) throw new Error("the stack that is tested runs on a system");
  const port = freePort();
  const [command, ...args] = bucketCommand(system, port);
  const server = new Deno.Command(command, {
    args,
    cwd: "/",
    env: { HOME: "/tmp" },
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `http://127.0.0.1:${port}`;
  await eventually("the server of buckets", async () => {
    const made = await fetch(`${url}/${name}`, { method: "PUT" });
    await made.body?.cancel();
    return made.ok;
  });
  return {
    url,
    bucket: bucketAt(`${url}/${name}`),
    async [Symbol.asyncDispose]() {
      server.kill();
      await server.status;
    },
  };
}

/** Returns the bucket at an address. */
export function bucketAt(url: string): Bucket {
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

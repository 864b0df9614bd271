import { bucketCommand, installBucket } from "../../local/processes/bucket.ts";
import { findSystem } from "../../local/system.ts";
import { signedHeaders } from "../../supabase/functions/_shared/s3.ts";
import { eventually } from "./eventually.ts";

export interface S3Server extends AsyncDisposable {
  readonly url: string;
  objects(bucket: string): Promise<readonly { readonly key: string; readonly bytes: Uint8Array }[]>;
}

const reader = { region: "us-east-1", accessKeyId: "anybody", secretAccessKey: "s3cret" };

/** moto, a server that speaks S3 and keeps its objects in memory, with an empty bucket. */
export async function startS3(bucket: string): Promise<S3Server> {
  await installBucket(console.log);
  const system = await findSystem();
  if (system === null) throw new Error("the stack that is tested runs on a system");
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
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
    const made = await fetch(`${url}/${bucket}`, { method: "PUT" });
    await made.body?.cancel();
    return made.ok;
  });
  return {
    url,
    objects: async (bucket) => {
      const listed = await (await fetch(`${url}/${bucket}?list-type=2`)).text();
      const keys = [...listed.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key]) => key);
      return await Promise.all(keys.map(async (key) => {
        const object = `${url}/${bucket}/${key.split("/").map(encodeURIComponent).join("/")}`;
        const headers = signedHeaders(
          { method: "GET", url: object, headers: {} },
          reader,
          new Date(),
        );
        const response = await fetch(object, { headers });
        if (!response.ok) throw new Error(`${key}: ${response.status}`);
        return { key, bytes: new Uint8Array(await response.arrayBuffer()) };
      }));
    },
    async [Symbol.asyncDispose]() {
      server.kill();
      await server.status;
    },
  };
}

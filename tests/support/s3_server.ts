import { bucketCommand, installBucket } from "../../local/processes/bucket.ts";
import { findSystem } from "../../local/system.ts";
import { eventually } from "./eventually.ts";

export interface S3Server extends AsyncDisposable {
  readonly url: string;
}

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
    async [Symbol.asyncDispose]() {
      server.kill();
      await server.status;
    },
  };
}

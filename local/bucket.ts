import { signedHeaders } from "../supabase/functions/_shared/s3.ts";

/** The bucket of a local stack. */
export const localBucket = "logloom-archive";

/** Creates the bucket if it is missing. Returns whether it exists then. */
export async function createBucketOf(port: number): Promise<boolean> {
  const url = `http://127.0.0.1:${port}/${localBucket}`;
  const key = { region: "us-east-1", accessKeyId: "local", secretAccessKey: "local" };
  const { ok, body } = await fetch(url, {
    method: "PUT",
    headers: signedHeaders({ method: "PUT", url, headers: {} }, key, new Date()),
    signal: AbortSignal.timeout(5_000),
  });
  await body?.cancel();
  return ok;
}

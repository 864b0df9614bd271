import assert from "node:assert/strict";
import { type Bucket, BucketError, createBucket } from "./bucket.ts";

/** A bucket with the answers of `answer`. */
function bucketOf(
  answer: (request: Request) => Response | Promise<Response>,
  timeoutMs = 60_000,
): Bucket {
  return createBucket({
    endpoint: "https://s3.example",
    bucket: "b",
    region: "us-east-1",
    accessKeyId: "id",
    secretAccessKey: "secret",
  }, {
    fetch: (async (url: string, init: RequestInit) => {
      const answered = Promise.resolve(answer(new Request(url, init)));
      const late = new Promise<never>((_, reject) =>
        init.signal?.addEventListener("abort", () => reject(init.signal?.reason))
      );
      return await Promise.race([answered, late]);
    }) as typeof fetch,
    timeoutMs,
    now: () => new Date("2026-11-21T12:00:00Z"),
  });
}

function says(text: string, status = 200): () => Response {
  return () => new Response(text, { status });
}

async function failsWith(work: Promise<unknown>, message: string): Promise<void> {
  await assert.rejects(work, new BucketError(message));
}

const list = (entries: string, isTruncated = false) =>
  `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${entries}</ListBucketResult>`;

Deno.test("a list has keys and ages", async () => {
  const bucket = bucketOf(says(list(
    "<Contents><Key>v1/a&amp;b&#x31;</Key><LastModified>2026-11-21T11:00:00Z</LastModified>" +
      "</Contents>",
    true,
  )));
  assert.deepEqual(await bucket.list("v1/", ""), {
    objects: [{ key: "v1/a&b1", age: 3600 }],
    isEnd: false,
  });
});

Deno.test("an answer that is not a whole list does not count as an empty bucket", async () => {
  const message = "The bucket's answer is not a list of objects";
  await failsWith(bucketOf(says("<html>Welcome</html>")).list("v1/", ""), message);
  await failsWith(bucketOf(says("")).list("v1/", ""), message);
  await failsWith(bucketOf(says(list("").slice(0, 40))).list("v1/", ""), message);
  await failsWith(
    bucketOf(says("slow down", 503)).list("v1/", ""),
    "The bucket did not list its objects: it answered 503",
  );
});

Deno.test("a failing bucket does not count as a bucket without versions", async () => {
  await failsWith(
    bucketOf(says("", 503)).keepsVersions(),
    "The bucket did not say whether it keeps versions: it answered 503",
  );
  await failsWith(
    bucketOf(({ url }) => new Response("", { status: url.includes("object-lock") ? 500 : 200 }))
      .keepsVersions(),
    "The bucket did not say whether it locks objects: it answered 500",
  );
  assert.equal(await bucketOf(says("", 501)).keepsVersions(), undefined);
  assert.equal(await bucketOf(says("", 404)).keepsVersions(), "The bucket does not exist");
  assert.equal(await bucketOf(says("", 403)).keepsVersions(), "The key may not use the bucket");
});

Deno.test("a wrong clock is named", async () => {
  const bucket = bucketOf(says("<Error><Code>RequestTimeTooSkewed</Code></Error>", 403));
  const message = "The function's clock differs too much from the bucket's";
  await failsWith(bucket.put("k", new Uint8Array()), message);
  await failsWith(bucket.get("k"), message);
  await failsWith(bucket.keepsVersions(), message);
});

Deno.test("an answer that never comes is given up", async () => {
  await failsWith(
    bucketOf(() => new Promise<Response>(() => {}), 20).get("k"),
    "The bucket did not answer in time",
  );
});

Deno.test("a deletion that leaves the object is an error", async () => {
  await failsWith(
    bucketOf(({ method }) => new Response(null, { status: method === "DELETE" ? 204 : 200 }))
      .delete("k"),
    "The bucket did not delete an object",
  );
});

import { createHash } from "node:crypto";
import assert from "node:assert/strict";
import type { OutgoingRequest } from "./outgoing_request.ts";
import { createS3, nameInKeys, type S3Bucket, signedHeaders } from "./s3.ts";

/** The example is from "Authenticating Requests (AWS Signature Version 4)" of the Amazon S3 API Reference. */
const published = {
  region: "us-east-1",
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const publishedAt = new Date("2013-05-24T00:00:00Z");
const host = "https://examplebucket.s3.amazonaws.com";

Deno.test("signatures equal the published examples", () => {
  const examples: [Parameters<typeof signedHeaders>[0], string][] = [
    [
      { method: "GET", url: `${host}/test.txt`, headers: { Range: "bytes=0-9" } },
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    ],
    [
      {
        method: "PUT",
        url: `${host}/test%24file.text`,
        headers: {
          Date: "Fri, 24 May 2013 00:00:00 GMT",
          "x-amz-storage-class": "REDUCED_REDUNDANCY",
        },
        body: new TextEncoder().encode("Welcome to Amazon S3."),
      },
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    ],
    [
      { method: "GET", url: `${host}/?lifecycle`, headers: {} },
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    ],
    [
      { method: "GET", url: `${host}/?max-keys=2&prefix=J`, headers: {} },
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    ],
  ];
  for (const [request, signature] of examples) {
    const { Authorization } = signedHeaders(request, published, publishedAt);
    assert.equal(Authorization.split("Signature=")[1], signature, request.url);
  }
});

const bucket: S3Bucket = {
  ...published,
  endpoint: "https://s3.example.com/base/",
  bucket: "logs",
};

Deno.test("an object is put, got and deleted below the endpoint's own path", async () => {
  const sent: OutgoingRequest[] = [];
  const s3 = createS3(bucket, (request) => {
    sent.push(request);
    return Promise.resolve({ status: 200, headers: new Map(), body: new Uint8Array() });
  }, () => publishedAt);
  await s3.put("tenant=a b/ü/$.gz", new Uint8Array([1]), { "Content-Type": "text/plain" });
  await s3.get("x", "bytes=0-1");
  await s3.delete("x");
  assert.deepEqual(sent.map(({ method, url }) => [method, url]), [
    ["PUT", "https://s3.example.com/base/logs/tenant%3Da%20b/%C3%BC/%24.gz"],
    ["GET", "https://s3.example.com/base/logs/x"],
    ["DELETE", "https://s3.example.com/base/logs/x"],
  ]);
  assert.match(sent[0].headers.Authorization, /SignedHeaders=content-type;host;x-amz-/);
});

Deno.test("an object name that a URL would change is refused before it is sent", async () => {
  const s3 = createS3(bucket, () => assert.fail("sent"), () => publishedAt);
  for (const key of ["", "a//b", "/a", "a/", "a/../b", "."]) {
    assert.deepEqual(await s3.get(key), {
      error: "This object name is not allowed",
      isFinal: true,
    });
  }
});

// The same ids as in supabase/tests/archive/files_and_bucket.test.sql.
Deno.test("an id in a key has only letters that every store accepts, and no two ids have the same key", () => {
  const long = "ü".repeat(100);
  assert.deepEqual(
    ["acme.com", "you@acme", "a b/ü", "..", "!%41", long].map(nameInKeys),
    [
      "acme.com",
      "you@acme",
      "a!20b!2F!C3!BC",
      "!2E.",
      "!21!2541",
      `!!${createHash("sha256").update(long).digest("hex")}`,
    ],
  );
});

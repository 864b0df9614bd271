import { Buffer } from "node:buffer";
import type { Caller } from "../_shared/auth.ts";
import type { CallDatabase } from "../_shared/database.ts";
import { failure, type Result, success } from "../_shared/errors.ts";
import type { Signature } from "./protocol.ts";
import type { Body } from "./read_body.ts";

/** Finds the API key that signed a body. Only the database knows the digests of keys. */
export async function findSigner(
  { keyId, signature }: Signature,
  body: Result<Body>,
  callDatabase: CallDatabase,
): Promise<Result<Caller>> {
  if (!body.ok) return body;
  if ("problem" in body.value) return failure(body.value.status, body.value.problem);
  const answer = await callDatabase(
    "ingest_signer",
    JSON.stringify({
      p_key_id: keyId,
      p_signature: signature,
      p_message: Buffer.from(body.value.bytes).toString("base64"),
    }),
  );
  return answer.ok
    ? success({ kind: "api_key", keyDigest: JSON.parse(answer.value) })
    : { ok: false, failure: answer.failure };
}

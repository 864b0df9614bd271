import assert from "node:assert/strict";
import type { AnswerOf, ParametersOf } from "../../packages/logloom/src/read.ts";
import { bearer, call, clientOf, type Tenant } from "./client.ts";
import { stack } from "./stack.ts";

/** Seals secrets as a program of the tenant does, those of channels by the function that sends there. */
export async function sealed(
  tenant: Pick<Tenant, "token">,
  secrets: Record<string, string>,
  by: "logloom-stream" | "logloom-notify" = "logloom-stream",
): Promise<Record<string, string>> {
  const { status, body } = await call<{ p_secrets: Record<string, string> }>(
    `/functions/v1/${by}/v1/seal`,
    {
      method: "POST",
      headers: {
        ...bearer(tenant.token),
        apikey: stack.anonKey,
        "content-type": "application/json",
      },
      body: JSON.stringify({ p_secrets: secrets }),
    },
  );
  assert.equal(status, 200, JSON.stringify(body));
  return body.p_secrets;
}

export type Stream = AnswerOf<"create_log_stream">;

/** A stream of the tenant, with these secrets sealed for it. */
export async function newStream(
  tenant: Pick<Tenant, "token">,
  parameters: Omit<ParametersOf<"create_log_stream">, "p_name" | "p_secrets">,
  secrets: Record<string, string> = {},
): Promise<Stream> {
  return await clientOf(tenant.token).call("create_log_stream", {
    p_name: `stream-${crypto.randomUUID()}`,
    ...parameters,
    ...Object.keys(secrets).length > 0 && { p_secrets: await sealed(tenant, secrets) },
  });
}

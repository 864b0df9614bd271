import assert from "node:assert/strict";
import type { AnswerOf, ParametersOf, StreamKind } from "../../packages/logloom/src/read.ts";
import { bearer, call, clientOf, type Tenant } from "./client.ts";
import { changeConstant, changeSettings, type Database } from "./database.ts";
import { stack } from "./stack.ts";

/** Seals secrets like a program of the tenant, by the function that will use them. */
export async function sealed(
  tenant: Pick<Tenant, "token">,
  secrets: Record<string, string>,
  by: "logloom-stream" | "logloom-notify" | "ingest" = "logloom-stream",
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

/** Shortens the waits of streams until the end of the scope. */
export async function hurriedStreams(sql: Database): Promise<AsyncDisposable> {
  await using hurried = new AsyncDisposableStack();
  hurried.use(await changeSettings(sql, { stream_interval: "500 ms" }));
  hurried.use(await changeConstant(sql, "stream_retry_base", "interval '300 ms'"));
  return hurried.move();
}

export type Stream = AnswerOf<"create_log_stream">;

/** Creates a stream of the tenant, with these secrets sealed for it. */
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

/** Our own receiver for a kind of stream, and the members that it adds to a record. */
export interface OwnReceiver {
  readonly path: string;
  readonly config?: Record<string, string>;
  readonly secret: (key: string) => Record<string, string>;
  readonly id: string;
  readonly extras: readonly string[];
  /** The precision of times, if not microseconds. */
  readonly precision?: "milliseconds" | "microseconds";
}

const inHeader = (key: string) => ({ "header.x-api-key": key });

/** Our own receiver for each kind of stream. */
export const ownReceivers: Readonly<Record<Exclude<StreamKind, "s3">, OwnReceiver>> = {
  webhook: { path: "", secret: inHeader, id: "id", extras: ["id", "received_at"] },
  otlp: {
    path: "/v1/logs",
    secret: inHeader,
    id: "logloom.id",
    extras: ["logloom.id", "observed_ts"],
  },
  loki: {
    path: "/loki/api/v1/push",
    secret: (key) => ({ "header.authorization": `Basic ${btoa(`any:${key}`)}` }),
    id: "id",
    extras: ["id", "received_at", "ts", "source"],
  },
  elasticsearch: {
    path: "/es/_bulk",
    config: { index: "logs" },
    secret: inHeader,
    id: "id",
    extras: ["id", "received_at", "_id"],
  },
  splunk_hec: {
    path: "/services/collector/event",
    secret: (token) => ({ token }),
    id: "id",
    extras: ["id", "received_at"],
  },
  datadog: {
    path: "/api/v2/logs",
    config: { tags: "team:shop" },
    secret: (api_key) => ({ api_key }),
    id: "id",
    extras: ["id", "received_at", "ddsource", "ddtags"],
    precision: "milliseconds",
  },
};

import { Buffer } from "node:buffer";
import type { Asked } from "../protocol.ts";
import * as about from "./build_info.ts";
import { asking, refusalOf } from "./call_operation.ts";
import { detectedFields } from "./detected_fields.ts";
import * as labels from "./label_values.ts";
import { query, queryRange, type Request } from "./query_endpoints.ts";
import { Refusal, refuse } from "./loki_error.ts";
import { shortened } from "./syntax_tree.ts";
import * as volumes from "./index_endpoints.ts";
import { jsonText } from "../../_shared/http.ts";
import { bytesOf } from "../read_body.ts";
import { refusalOfReader } from "../unknown_reader.ts";

const maxAnswerBytes = 10 * 1024 * 1024;

const endpoints: Record<string, (request: Request) => unknown> = {
  "labels": labels.labels,
  "label": labels.labels,
  "series": labels.series,
  "query": query,
  "query_range": queryRange,
  "index/stats": volumes.indexStats,
  "index/volume": volumes.indexVolume,
  "index/volume_range": volumes.indexVolumeRange,
  "patterns": volumes.patterns,
  "detected_labels": labels.detectedLabels,
  "detected_fields": detectedFields,
  "format_query": about.formatQuery,
  "drilldown-limits": about.drilldownLimits,
  "status/buildinfo": about.buildInfo,
};

const valueEndpoints: Record<string, (request: Request, name: string) => unknown> = {
  "label": labels.labelValues,
  "detected_field": labels.detectedFieldValues,
};

/** Answers `/loki/api/v1/…`, the requests of Grafana to Loki. */
export function answer(asked: Asked): Promise<Response> {
  return answeredBy(asked, () => endpointOf(asked.path.slice("/loki/api/v1/".length)));
}

/** Answers a request of Grafana by an endpoint. Errors are plain text. */
export async function answeredBy(
  { request, reader, callDatabase }: Asked,
  endpointOf: () => (request: Request) => unknown,
): Promise<Response> {
  try {
    const endpoint = endpointOf();
    if (reader instanceof Response) throw await refusalOf(reader);
    let hasAsked = false;
    const found = await endpoint({
      parameters: await parametersOf(request),
      headers: request.headers,
      now: BigInt(Date.now()) * 1_000_000n,
      ask: asking(reader, (...call) => {
        hasAsked = true;
        return callDatabase(...call);
      }),
    });
    // Grafana's health check asks the database nothing, but must fail if the key is wrong.
    const refusal = hasAsked ? undefined : await refusalOfReader(reader, callDatabase);
    if (refusal !== undefined) throw await refusalOf(refusal);
    if (found instanceof Response) return found;
    const text = JSON.stringify(found);
    if (Buffer.byteLength(text) > maxAnswerBytes) {
      refuse("the answer is too large: narrow the query");
    }
    return jsonText(200, text);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return jsonText(error.status, `${error.message}\n`, {
      ...error.headers,
      "Content-Type": "text/plain; charset=utf-8",
    });
  }
}

function endpointOf(name: string): (request: Request) => unknown {
  if (Object.hasOwn(endpoints, name)) return endpoints[name];
  const [, kind, label] = /^(label|detected_field)\/([^/]+)\/values$/.exec(name) ?? [];
  if (kind !== undefined) {
    return (request) => valueEndpoints[kind](request, decoded(label));
  }
  throw name === "tail"
    ? new Refusal(501, "tail is not supported: hosted functions close connections too early")
    : new Refusal(404, `Unknown endpoint: ${shortened(name)}`);
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal(400, "The path is not well-formed");
  }
}

/** The parameters in the address and in the form. */
async function parametersOf(request: globalThis.Request): Promise<URLSearchParams> {
  const { searchParams } = new URL(request.url);
  if (request.method !== "POST") return searchParams;
  const bytes = await bytesOf(request);
  if (bytes instanceof Response) throw await refusalOf(bytes);
  const form = new URLSearchParams(new TextDecoder().decode(bytes));
  for (const [name, value] of searchParams) form.append(name, value);
  return form;
}

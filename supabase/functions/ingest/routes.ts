import { withoutSlashesAtEnd } from "../_shared/trailing_slashes.ts";
import type { Incoming, Protocol } from "./protocol.ts";
import { axiom } from "./protocols/axiom.ts";
import { betterstack } from "./protocols/betterstack.ts";
import { datadog, datadogValidation } from "./protocols/datadog.ts";
import { drains } from "./protocols/drains.ts";
import { elasticsearch } from "./protocols/elasticsearch.ts";
import { gelf } from "./protocols/gelf.ts";
import { hec } from "./protocols/splunk_hec.ts";
import { lines } from "./protocols/ndjson_and_text.ts";
import { logdna } from "./protocols/logdna.ts";
import { logflare } from "./protocols/logflare.ts";
import { loki, lokiStatus } from "./protocols/loki.ts";
import { marker } from "./protocols/markers.ts";
import { nativeFor } from "./protocols/json_events.ts";
import { otlp, otlpMetrics, otlpTraces } from "./protocols/otlp.ts";

type Choose = (incoming: Incoming) => Protocol | undefined;

/** The protocol of each path below `ingest`. */
const routes: readonly (readonly [RegExp, Choose])[] = [
  [/^$/, nativeFor],
  [/^\/lines$/, () => lines],
  [/^\/marker$/, () => marker],
  [/^(?:\/otlp)?\/v1\/logs$/, () => otlp],
  [/^(?:\/otlp)?\/v1\/traces$/, () => otlpTraces],
  [/^(?:\/otlp)?\/v1\/metrics$/, () => otlpMetrics],
  [/^\/loki\/api\/v1\/push$/, () => loki],
  [/^\/(?:loki\/)?ready$|^\/loki\/api\/v1\/labels$/, () => lokiStatus],
  [/^\/es(?:\/|$)/, () => elasticsearch],
  [/^\/services\/collector(?:\/(?:event|raw|health)(?:\/1\.0)?|\/ack)?$/, () => hec],
  [/^\/api\/v2\/logs$|^\/v1\/input(?:\/[^/]+)?$/, () => datadog],
  [/^\/api\/v1\/validate$/, () => datadogValidation],
  [/^\/v1\/ingest\/[^/]+$|^\/v1\/datasets\/[^/]+\/ingest$/, () => axiom],
  [/^\/betterstack$/, () => betterstack],
  [/^\/(?:logflare\/)?(?:api\/)?logs$/, () => logflare],
  [/^\/gelf$/, () => gelf],
  [/^\/logs\/ingest$/, () => logdna],
  [/^\/drain\/[a-z]+$/, ({ path }) => drains.get(path.slice("/drain/".length))],
];

/** The protocol of a request; undefined without a receiver. */
export function protocolOf(incoming: Incoming): Protocol | undefined {
  return routes.find(([path]) => path.test(incoming.path))?.[1](incoming);
}

/** The path below `ingest`, without trailing slashes. */
export function pathBelowIngest(pathname: string): string {
  return withoutSlashesAtEnd(pathname.replace(/^(?:\/functions\/v1)?\/ingest(?=\/|$)/, ""));
}

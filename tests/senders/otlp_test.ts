import { declined, testNodeSender } from "./sender.ts";

for (const exporter of ["http", "proto"]) {
  testNodeSender({
    name: `@opentelemetry/exporter-logs-otlp-${exporter}`,
    page: "opentelemetry.md",
    block: "otlp-http.mjs",
    variant: (block) => block.replace("otlp-http", `otlp-${exporter}`),
    query: declined,
    say: (n) => `logger.emit({ severityNumber: 9, body: "event " + ${n} })`,
    end: "await provider.forceFlush().catch(() => {});",
    promised: { lost: "none", doubled: "none" },
    floods: exporter === "http" ? ["refuses"] : ["is not there"],
  });
}

import { declined, testNodeSender } from "./sender.ts";

for (const form of ["protobuf", "JSON"]) {
  // Refused events are sent again when its circuit breaker closes, after a minute.
  testNodeSender({
    name: `winston-loki, ${form}`,
    page: "loki.md",
    block: "winston-loki.mjs",
    variant: (block) =>
      form === "JSON" ? block.replace("interval: 1,", "interval: 1, json: true,") : block,
    query: declined,
    say: (n) => `logger.info("event " + ${n})`,
    promised: { lost: "none", doubled: "none" },
    stayMs: 75_000,
  });
}

import { declined, testNodeSender } from "./sender.ts";

// Loading Datadog's own client takes seconds.
testNodeSender({
  name: "pino-datadog-transport",
  page: "others.md",
  block: "pino-datadog.mjs",
  query: `env:prod ${declined}`,
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "none", doubled: "none" },
  stayMs: 25_000,
});

import { declined, testNodeSender } from "./sender.ts";

// Datadog's own client, on which it stands, takes seconds to be loaded.
testNodeSender({
  name: "pino-datadog-transport",
  page: "others.md",
  block: "pino-datadog.mjs",
  query: `env:prod ${declined}`,
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "none", doubled: "none" },
  stayMs: 25_000,
});

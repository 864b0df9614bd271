import { declined, testNodeSender } from "./sender.ts";

// Datadog's own client, which it uses, takes seconds to load.
testNodeSender({
  name: "pino-datadog-transport",
  page: "others.md",
  block: "pino-datadog.mjs",
  query: `env:prod ${declined}`,
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "none", doubled: "none" },
  stayMs: 25_000,
});

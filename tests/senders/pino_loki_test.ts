import { declined, testNodeSender } from "./sender.ts";

// This sender never retries.
testNodeSender({
  name: "pino-loki",
  page: "loki.md",
  block: "pino-loki.mjs",
  query: declined,
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "some", doubled: "none" },
});

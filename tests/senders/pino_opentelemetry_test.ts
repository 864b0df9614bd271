import { declined, testNodeSender } from "./sender.ts";

testNodeSender({
  name: "pino-opentelemetry-transport",
  page: "opentelemetry.md",
  block: "pino-opentelemetry.mjs",
  query: declined,
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "none", doubled: "none" },
  floods: ["refuses"],
});

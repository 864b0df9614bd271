import { testNodeSender } from "./sender.ts";

// This sender reports failures to a callback and never retries.
testNodeSender({
  name: "winston-splunk-httplogger",
  page: "others.md",
  block: "winston-splunk.mjs",
  query: 'level:error attrs.meta.order:7 "card declined"',
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "some", doubled: "none" },
});

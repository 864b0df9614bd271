import { testNodeSender } from "./sender.ts";

testNodeSender({
  name: "winston-elasticsearch",
  page: "elasticsearch.md",
  block: "winston-elasticsearch.mjs",
  query: 'level:error "card declined"',
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "none", doubled: "none" },
  stayMs: 20_000,
});

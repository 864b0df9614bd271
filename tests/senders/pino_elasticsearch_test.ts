import { declinedOfNobody, testNodeSender } from "./sender.ts";

testNodeSender({
  name: "pino-elasticsearch",
  page: "elasticsearch.md",
  block: "pino-elasticsearch.mjs",
  query: declinedOfNobody,
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "none", doubled: "none" },
  floods: ["is not there"],
  stayMs: 20_000,
});

import { declinedOfNobody, testNodeSender } from "./sender.ts";

testNodeSender({
  name: "@axiomhq/pino",
  page: "others.md",
  block: "axiom.mjs",
  query: declinedOfNobody,
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "some", doubled: "none" },
});

import { declinedOfNobody, testNodeSender } from "./sender.ts";

testNodeSender({
  name: "@logtail/node",
  page: "others.md",
  block: "betterstack.mjs",
  query: declinedOfNobody,
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "some", doubled: "none" },
});

import { declinedOfNobody, testNodeSender } from "./sender.ts";

// It hands every failure to a callback and sends nothing again.
testNodeSender({
  name: "splunk-logging",
  page: "others.md",
  block: "splunk.mjs",
  query: declinedOfNobody,
  say: (n) => `logger.send({ message: "event " + ${n}, severity: "info" }, () => {})`,
  promised: { lost: "some", doubled: "none" },
});

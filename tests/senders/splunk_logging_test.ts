import { declinedOfNobody, testNodeSender } from "./sender.ts";

// It reports failures to a callback and never sends again.
testNodeSender({
  name: "splunk-logging",
  page: "others.md",
  block: "splunk.mjs",
  query: declinedOfNobody,
  say: (n) => `logger.send({ message: "event " + ${n}, severity: "info" }, () => {})`,
  promised: { lost: "some", doubled: "none" },
});

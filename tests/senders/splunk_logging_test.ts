import { declinedOfNobody, testNodeSender } from "./sender.ts";

// This sender reports failures to a callback and never retries.
testNodeSender({
  name: "splunk-logging",
  page: "others.md",
  block: "splunk.mjs",
  query: declinedOfNobody,
  say: (n) => `logger.send({ message: "event " + ${n}, severity: "info" }, () => {})`,
  promised: { lost: "some", doubled: "none" },
});

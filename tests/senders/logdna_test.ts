import { declined, testNodeSender } from "./sender.ts";

testNodeSender({
  name: "@logdna/logger",
  page: "others.md",
  block: "logdna.mjs",
  query: declined.replace("attrs.order", "attrs.meta.order"),
  say: (n) => `logger.log("event " + ${n}, "info")`,
  promised: { lost: "none", doubled: "none" },
  stayMs: 20_000,
});

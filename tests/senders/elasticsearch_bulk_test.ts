import { declinedOfNobody, testNodeSender } from "./sender.ts";

testNodeSender({
  name: "@elastic/elasticsearch, bulk helper",
  page: "elasticsearch.md",
  block: "bulk.mjs",
  query: declinedOfNobody,
  say: (n) =>
    `client.helpers.bulk({
      datasource: [{ "@timestamp": new Date(), message: "event " + ${n} }],
      onDocument: () => ({ create: { _index: "shop" } }),
      retries: 10,
      wait: 1000,
    })`,
  promised: { lost: "none", doubled: "none" },
  stayMs: 15_000,
});

import { isObject } from "./answer.ts";
import * as output from "./output.ts";
import { parametersOf, query, range, text, type Tool, toolOf, upTo } from "./tool.ts";

const record = {
  id: text("The record's id, a UUID."),
  ts: text("The record's ts, which finds it faster."),
};

/** What reads logs and what stands around them; query_help is in help.ts. */
export const tools: readonly Tool[] = [
  toolOf("search_logs", {
    name: "search_logs",
    output: output.page,
    title: "Search logs",
    description: "Finds log records, newest first. Long messages are cut: get_log gives one whole.",
    properties: {
      query_dsl: query,
      ...range,
      limit: upTo(100, "Records, 20 by default."),
      cursor: text("next_cursor of the page before.", 1000),
      order: { type: "string", description: "Order by time.", enum: ["asc", "desc"] },
    },
    isCut: true,
  }, { fixed: { p_limit: 20 } }),
  toolOf("get_log", {
    name: "get_log",
    output: output.record,
    title: "One record",
    description: "Gives one log record whole.",
    properties: record,
    required: ["id"],
  }),
  toolOf("get_log_context", {
    name: "get_log_context",
    output: output.records,
    title: "Around a record",
    description: "Gives the log records just before and after one.",
    properties: {
      ...record,
      before: upTo(50, "How many before."),
      after: upTo(50, "How many after."),
    },
    required: ["id"],
    isCut: true,
  }),
  toolOf("log_stats", {
    name: "log_stats",
    output: output.rows,
    title: "Aggregates",
    description: "Counts and aggregates, by a query with a stage such as: | count() by service.",
    properties: { query_dsl: query, ...range, limit: upTo(1000, "Rows.") },
  }),
  toolOf("log_stats", {
    name: "log_patterns",
    output: output.rows,
    title: "Patterns",
    description: "Groups messages by their shape. The query is a filter, without stages.",
    properties: { query_dsl: query, ...range, limit: upTo(1000, "Rows.") },
  }, { stage: "| patterns" }),
  toolOf("log_series", {
    name: "log_series",
    output: output.series,
    title: "Over time",
    description: "Aggregates over time, in equal steps.",
    properties: { query_dsl: query, ...range, buckets: upTo(200, "Steps.") },
  }),
  toolOf("log_changes", {
    name: "what_changed",
    output: output.changes,
    title: "What changed",
    description:
      "Compares a range with the one before it: patterns and values that are new, gone, " +
      "grown or shrunk, the most surprising first.",
    properties: { query_dsl: query, ...range, limit: upTo(100, "Changes, 20 by default.") },
  }, { fixed: { p_limit: 20 } }),
  toolOf("log_overview", {
    name: "log_overview",
    output: output.overview,
    title: "Services",
    description:
      "Lists the services that sent logs in a range: records and errors beside the same hours " +
      "the day before, and when each was last seen. A good first look.",
    properties: { query_dsl: query, ...range, limit: upTo(1000, "Services, 50 by default.") },
  }, { fixed: { p_limit: 50 } }),
  toolOf("list_log_fields", {
    name: "list_log_fields",
    output: output.fields,
    title: "Fields",
    description: "Lists the fields that can be asked for, with frequent values.",
    properties: { query_dsl: query, ...range },
  }),
  {
    name: "list_alerts",
    output: output.alerts,
    title: "Alerts",
    description:
      "Lists the alert rules with what each last measured, and the alerts, newest first.",
    properties: {
      rule_id: text("Only this rule, a UUID."),
      ...range,
      acknowledged: {
        type: "boolean",
        description: "Only acknowledged alerts, or only open ones.",
      },
      limit: upTo(100, "Alerts, 20 by default."),
    },
    required: [],
    operations: ["list_alert_rules", "list_alert_history"],
    async ask(given, read) {
      const [rules, alerts] = await Promise.all([
        read("list_alert_rules", { p_limit: 100 }),
        read("list_alert_history", { p_limit: 20, ...parametersOf(given) }),
      ]);
      return {
        rules: (Array.isArray(rules) ? rules : []).filter(isObject)
          .filter(({ rule_id }) => given.rule_id === undefined || rule_id === given.rule_id)
          // Addresses of webhooks let anybody post to them.
          .map(({ notification_config: _, ...rule }) => rule),
        alerts,
      };
    },
  },
  toolOf("list_saved_searches", {
    name: "list_saved_searches",
    output: output.savedSearches,
    title: "Saved searches",
    description: "Lists the user's saved searches and those that colleagues share, newest first.",
    properties: {
      limit: upTo(100, "Searches, 20 by default."),
      after: text("id of the last search of the page before."),
    },
  }, { fixed: { p_limit: 20 } }),
];

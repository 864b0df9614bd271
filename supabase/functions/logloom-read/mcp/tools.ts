import { countWithin, isObject } from "./tool_answer.ts";
import { traceTree } from "./trace_tree.ts";
import * as output from "./output_schemas.ts";
import { proposeFiles } from "./propose_files.ts";
import {
  type Given,
  parametersOf,
  query,
  range,
  type Read,
  text,
  type Tool,
  toolOf,
  upTo,
} from "./tool_definition.ts";

const record = {
  id: text("The record's id, a UUID."),
  ts: text("The record's ts, which finds it faster."),
};

/** Where a trace is looked for by attrs.trace_id. By req_id it is found over all days. */
const rangeOfTrace = {
  ts_from: text("Start, if no record has it as req_id: RFC 3339, or now-7d, the default."),
  ts_to: range.ts_to,
};

/** A record without null members and the tenant, which tell the assistant nothing. */
function slim(found: unknown): unknown {
  if (!isObject(found)) return found;
  const { tenant_id: _, ...rest } = found;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
}

/** Returns a record of a list without received_at, too, which get_log shows. */
function slimmer(found: unknown): unknown {
  const record = slim(found);
  if (!isObject(record)) return record;
  const { received_at: _, ...rest } = record;
  return rest;
}

function slimList(found: unknown): unknown {
  return Array.isArray(found) ? found.map(slimmer) : found;
}

/** A page with as many records as fit an answer. Its cursor continues after the last of them. */
async function pageOf(given: Given, read: Read): Promise<unknown> {
  const parameters: Given = { p_limit: 20, ...parametersOf(given) };
  const slimPage = (page: unknown) =>
    isObject(page) ? { ...page, logs: slimList(page.logs) } : page;
  let page = slimPage(await read("search_logs", parameters));
  while (isObject(page) && Array.isArray(page.logs)) {
    const count = countWithin(page.logs);
    if (count >= page.logs.length) break;
    page = slimPage(await read("search_logs", { ...parameters, p_limit: count }));
  }
  return page;
}

/** All tools but query_help. */
export const tools: readonly Tool[] = [
  {
    name: "search_logs",
    output: output.page,
    title: "Search logs",
    description: "Finds log records, newest first. Long messages are cut: get_log gives one whole.",
    properties: {
      query_dsl: query,
      ...range,
      limit: upTo(100, "Records, 20 by default; fewer where more would be too long."),
      cursor: text("next_cursor of the page before.", 1000),
      order: { type: "string", description: "Order by time.", enum: ["asc", "desc"] },
    },
    required: [],
    operations: ["search_logs"],
    isCut: true,
    ask: pageOf,
  },
  toolOf("get_log", {
    name: "get_log",
    output: output.record,
    title: "One record",
    description: "Gives one log record whole.",
    properties: record,
    required: ["id"],
  }, { shown: slim }),
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
  }, { shown: slimList }),
  {
    name: "get_trace",
    output: output.trace,
    title: "One trace",
    description:
      "Gives the tree of a trace's spans: each with its service, duration and start in ms, and " +
      "its first error. * marks what the end waited for. Fast, deep spans without an error are " +
      "left out first.",
    properties: {
      id: text("The trace: req_id or attrs.trace_id of its records.", 200),
      ...rangeOfTrace,
    },
    required: ["id"],
    operations: ["search_logs"],
    ask: traceTree,
  },
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
  {
    name: "list_error_groups",
    output: output.errorGroups,
    title: "Errors",
    description: "Lists errors with the same cause as groups, new and regressed ones first. " +
      'For "what is new since the deploy?" give new_since; search_logs of @kind:marker has deploys.',
    properties: {
      state: {
        type: "string",
        description: "Only groups in this state; new, regressed and open by default.",
        enum: ["new", "regressed", "open", "resolved", "ignored"],
      },
      new_since: text("Became new or regressed since: RFC 3339, or now-1h."),
      first_release: text("First seen in this release.", 200),
      service: text("Only of this service.", 200),
      ...range,
      limit: upTo(100, "Groups, 20 by default."),
      after: text("fingerprint of the last group of the page before."),
    },
    required: [],
    operations: ["list_error_groups"],
    async ask({ state, ...given }, read) {
      const groups = await read("list_error_groups", {
        p_limit: 20,
        ...parametersOf(given),
        ...(state === undefined ? {} : { p_state: [state] }),
      });
      return slimList(groups);
    },
  },
  toolOf("get_error_group", {
    name: "get_error_group",
    output: output.errorGroup,
    title: "One error",
    description: "Gives an error group with its course, stack, releases, what its records have " +
      "more often than other errors, and the newest records. Name the group, or a record of it.",
    properties: { fingerprint: text("The group's fingerprint."), ...record },
    isCut: true,
  }, {
    shown: (found) =>
      isObject(found)
        ? { ...found, group: slim(found.group), newest: slimList(found.newest) }
        : found,
  }),
  toolOf("list_log_fields", {
    name: "list_log_fields",
    output: output.fields,
    title: "Fields",
    description: "Lists the fields that can be asked for, with frequent values: in how many " +
      "records (count) of those that were looked at (records), all where exact.",
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
      const asked = await Promise.allSettled([
        read("list_alert_rules", { p_limit: 100 }),
        read("list_alert_history", { p_limit: 20, ...parametersOf(given) }),
      ]);
      // If both calls are refused, the error is always the first one's.
      const [rules, alerts] = asked.map((one) => {
        if (one.status === "rejected") throw one.reason;
        return one.value;
      });
      return {
        rules: (Array.isArray(rules) ? rules : []).filter(isObject)
          .filter(({ rule_id }) => given.rule_id === undefined || rule_id === given.rule_id)
          // Whoever knows a webhook's address can post to it.
          .map(({ notification_config: _, ...rule }) => rule),
        alerts,
      };
    },
  },
  toolOf("list_audit_events", {
    name: "list_audit_events",
    output: output.auditEvents,
    title: "Audit trail",
    description:
      "Lists who changed what, newest first. Changes of rows have old and new in context.",
    properties: {
      actor: text("Only by this user or role.", 255),
      action: text("Only this action, or how it begins: invoices.*", 200),
      target: text("Only what was done to this id.", 255),
      ...range,
      limit: upTo(100, "Events, 20 by default."),
      after: text("event_id of the last event of the page before."),
    },
    isCut: true,
  }, { fixed: { p_limit: 20 }, shown: slimList }),
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
  proposeFiles,
];

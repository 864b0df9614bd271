export interface Question {
  name: string;
  operation: string;
  query: string;
  /** How far back the range begins. */
  hours: number;
}

export interface Case extends Question {
  limit: number;
}

/** Returns the questions of the search benchmark. */
export function casesOf(days: number): Case[] {
  const day = 24;
  return [
    {
      name: "newest 100, level:error service:openssh, a day",
      operation: "search_logs",
      query: "level:error service:openssh",
      hours: day,
      limit: 50,
    },
    {
      name: "… that match nothing",
      operation: "search_logs",
      query: "level:error service:openssh env:nowhere",
      hours: day,
      limit: 300,
    },
    {
      name: 'newest 100, "failed password", an hour',
      operation: "search_logs",
      query: '"failed password"',
      hours: 1,
      limit: 50,
    },
    {
      name: "level:error | count(), a day",
      operation: "log_stats",
      query: "level:error | count()",
      hours: day,
      limit: 25,
    },
    {
      name: '"failed password" | count(), a day',
      operation: "log_stats",
      query: '"failed password" | count()',
      hours: day,
      limit: 400,
    },
    {
      name: "histogram by level, a day",
      operation: "log_histogram",
      query: "",
      hours: day,
      limit: 40,
    },
    {
      name: "| count() by (5m), service, a day",
      operation: "log_stats",
      query: "| count() by (5m), service",
      hours: day,
      limit: 60,
    },
    {
      name: "any:timeout | count(), an hour",
      operation: "log_stats",
      query: "any:timeout | count()",
      hours: 1,
      limit: 150,
    },
    {
      name: "| patterns, the newest 100,000 records",
      operation: "log_stats",
      query: "| patterns",
      hours: day,
      limit: 2000,
    },
    {
      name: `req_id:…, ${days} days`,
      operation: "search_logs",
      query: "req_id:bench-request",
      hours: day * days,
      limit: 20,
    },
  ];
}

/** Returns the cases, and two more that read the attributes of many records. */
export function questionsOf(days: number): Question[] {
  return [
    ...casesOf(days),
    {
      name: "any:upstream | count(), an hour",
      operation: "log_stats",
      query: "any:upstream | count()",
      hours: 1,
    },
    {
      name: "| p95(attrs.bytes) by host, an hour",
      operation: "log_stats",
      query: "| p95(attrs.bytes) by host",
      hours: 1,
    },
  ];
}

export function parametersOf({ query, hours }: Question, now: Date): Record<string, string> {
  return {
    p_query_dsl: query,
    p_ts_from: new Date(now.getTime() - hours * 3_600_000).toISOString(),
    p_ts_to: now.toISOString(),
  };
}

// Written from supabase/schemas/foundations/record_fields.sql by npm run migration: change it there.

/** The fields of an event in the order of their columns. */
export const eventFields = [
  "ts",
  "level",
  "msg",
  "service",
  "env",
  "req_id",
  "user_id",
  "route",
  "host",
  "attrs",
] as const;

/** The text fields of an event, in the order of their columns. */
export const textFields = ["msg", "service", "env", "req_id", "user_id", "route", "host"] as const;

export type TextField = typeof textFields[number];

/** The fields with few values, in the order in which the console shows them. */
export const labels = ["level", "service", "host", "env", "route", "req_id", "user_id"] as const;

/** The tests that a query may make of a field depend on its kind. */
export type FieldKind = "time" | "id" | "level" | "msg" | "text" | "host" | "attrs";

export const fieldKinds: Readonly<Record<string, FieldKind>> = {
  "ts": "time",
  "received_at": "time",
  "id": "id",
  "level": "level",
  "msg": "msg",
  "service": "text",
  "env": "text",
  "req_id": "text",
  "user_id": "text",
  "route": "text",
  "host": "host",
  "attrs": "attrs",
};

/** The console's remark on a field, beside its name. */
export const remarks = {
  "ts": "a time, a day, now-15m",
  "received_at": "when the service got it",
  "id": "a record's id",
  "level": "debug < info < warn < error",
  "msg": "anywhere in the message",
  "req_id": "has an index",
} as const;

/**
 * Names of a field in libraries and protocols, the most important first. A dotted name is a flat key or a path. The
 * field's own name is not listed: it always wins.
 */
export const aliases = {
  "ts":
    "@timestamp timestamp time _time dt date datetime t eventTime EdgeStartTimestamp asctime @t Timestamp __REALTIME_TIMESTAMP timeMillis instant record.time.repr"
      .split(" "),
  "level":
    "severity status log.level severity_text loglevel levelname lvl @level level_name error_severity @l Level LogLevel PRIORITY @fields.level record.level context.logLevel s"
      .split(" "),
  "msg":
    "formattedMessage message event_message log short_message body record.message text line @message @m Message RenderedMessage fields.message MESSAGE @mt MessageTemplate event"
      .split(" "),
  "service": "service.name service_name app application projectName SYSLOG_IDENTIFIER name".split(
    " ",
  ),
  "env": "environment deployment.environment.name deployment.environment".split(" "),
  "req_id": "request_id requestId reqId req.id http.request.id x_request_id correlation_id RayID"
    .split(" "),
  "user_id": "userId user.id enduser.id usr.id".split(" "),
  "route": "http.route url.path path ClientRequestPath proxy.path".split(" "),
  "host": "hostname host.name server _HOSTNAME".split(" "),
};

/** Words for levels in libraries and protocols, in lower case: those of supabase/schemas/query/literals.sql. */
export const levelWords = {
  "debug":
    "debug trace finest finer fine silly verbose http notset dbg dbug debg trc trce vrb debug1 debug2 debug3 debug4 debug5"
      .split(" "),
  "info": "info information informational notice log ok default audit config inf success".split(
    " ",
  ),
  "warn": "warn warning wrn".split(" "),
  "error":
    "error err severe critical crit fatal panic alert emerg emergency fail dpanic ftl erro eror"
      .split(" "),
};

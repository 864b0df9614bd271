-- Lists the fields of a record. Everything that needs the fields loops over this list or is
-- generated from it by npm run migration. docs/background/architecture.md says how to add a field.

create type logloom_private.record_field as (
  name text,
  type text,
  sent boolean,
  shown integer,
  kind text,
  block text,
  bloom boolean,
  place integer,
  near text[],
  aliases text[],
  also text,
  remark text
);

comment on type logloom_private.record_field is
  'A column of logloom.logs. sent: events have it. shown: its position in '
  'public.logloom_log_record. Null if answers do not have it. kind: how queries treat it (time, '
  'id, level, msg, text, host, attrs). Null: queries do not know it. block: how a block stores it '
  '(times, batches, ids, runs, templates, attrs, or a column of its own). bloom: with a Bloom '
  'filter. place: its position in the console. near: names that people use for it by mistake. '
  'aliases: its other names in an event. The first one wins. A dotted name is a flat key or a '
  'path. also: another source, which a guide lists. remark: what the console says about it.';

-- The fields are in the order of the columns of logloom.logs. Add a new field at the end.
create function logloom_private.record_fields()
returns logloom_private.record_field[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select f
    from jsonb_populate_recordset(null::logloom_private.record_field, '[
      {"name": "ts", "type": "timestamptz", "sent": true, "shown": 3, "kind": "time",
        "block": "times", "near": ["time", "timestamp", "_time", "@timestamp", "date"],
        "aliases": ["@timestamp", "timestamp", "time", "_time", "dt", "date", "datetime", "t",
          "eventTime", "EdgeStartTimestamp", "asctime", "@t", "Timestamp", "__REALTIME_TIMESTAMP",
          "timeMillis", "instant", "record.time.repr"],
        "remark": "a time, a day, now-15m"},
      {"name": "received_at", "type": "timestamptz", "sent": false, "shown": 4, "kind": "time",
        "block": "batches", "remark": "when the service got it"},
      {"name": "write_seq", "type": "bigint", "sent": false, "block": "batches"},
      {"name": "id", "type": "uuid", "sent": false, "shown": 1, "kind": "id", "block": "ids",
        "remark": "a record''s id"},
      {"name": "tenant_id", "type": "text", "sent": false, "shown": 2},
      {"name": "level", "type": "text", "sent": true, "shown": 5, "kind": "level",
        "block": "runs", "place": 1,
        "near": ["severity", "lvl", "loglevel", "log_level", "severitylevel"],
        "aliases": ["severity", "status", "log.level", "severity_text", "loglevel", "levelname",
          "lvl", "@level", "level_name", "error_severity", "@l", "Level", "LogLevel",
          "PRIORITY", "@fields.level", "record.level", "context.logLevel", "s"],
        "remark": "debug < info < warn < error"},
      {"name": "msg", "type": "text", "sent": true, "shown": 6, "kind": "msg",
        "block": "templates",
        "near": ["message", "log", "text", "_msg", "body", "logmessage", "rendereddescription"],
        "aliases": ["formattedMessage", "message", "event_message", "log", "short_message", "body",
          "record.message", "text", "line", "@message", "@m", "Message", "RenderedMessage",
          "fields.message", "MESSAGE", "@mt", "MessageTemplate", "event"],
        "remark": "anywhere in the message"},
      {"name": "service", "type": "text", "sent": true, "shown": 7, "kind": "text",
        "block": "runs", "place": 2, "near": ["app", "svc", "job", "service_name", "application",
          "approlename", "containername"],
        "aliases": ["service.name", "service_name", "app", "application", "projectName",
          "SYSLOG_IDENTIFIER", "name"]},
      {"name": "env", "type": "text", "sent": true, "shown": 8, "kind": "text",
        "block": "column", "place": 4, "near": ["environment", "stage"],
        "aliases": ["environment", "deployment.environment.name", "deployment.environment"],
        "also": "`env:` in `ddtags`"},
      {"name": "req_id", "type": "text", "sent": true, "shown": 9, "kind": "text",
        "block": "column", "bloom": true, "place": 6,
        "near": ["request_id", "trace_id", "requestid", "traceid"],
        "aliases": ["request_id", "requestId", "reqId", "req.id", "http.request.id",
          "x_request_id", "correlation_id", "RayID"], "also": "else the trace",
        "remark": "has an index"},
      {"name": "user_id", "type": "text", "sent": true, "shown": 10, "kind": "text",
        "block": "column", "bloom": true, "place": 7, "near": ["user", "usr", "userid"],
        "aliases": ["userId", "user.id", "enduser.id", "usr.id"]},
      {"name": "route", "type": "text", "sent": true, "shown": 11, "kind": "text",
        "block": "column", "place": 5, "near": ["path", "url", "uri", "operationname"],
        "aliases": ["http.route", "url.path", "path", "ClientRequestPath", "proxy.path"]},
      {"name": "host", "type": "text", "sent": true, "shown": 12, "kind": "host",
        "block": "column", "place": 3,
        "near": ["hostname", "host_name", "instance", "pod", "podname", "computer"],
        "aliases": ["hostname", "host.name", "server", "_HOSTNAME"]},
      {"name": "attrs", "type": "jsonb", "sent": true, "shown": 13, "kind": "attrs",
        "block": "attrs"},
      {"name": "record_bytes", "type": "integer", "sent": false, "block": "column"}
    ]') f
  );
end;
$$;

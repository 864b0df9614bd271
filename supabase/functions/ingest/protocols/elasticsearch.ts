import { type Failure, failure, type Result, success } from "../../_shared/errors.ts";
import {
  type EventCollector,
  type EventError,
  sendAgain,
  TooManyEvents,
} from "../event_collector.ts";
import { addMember, ExcessiveJson, isObject, type JsonObject } from "../json_reader.ts";
import { isText } from "../../_shared/numbers.ts";
import {
  type Content,
  explained,
  type Incoming,
  type Protocol,
  type Reading,
  receiver,
  type Reply,
} from "../protocol.ts";
import { linesOf } from "./ndjson_and_text.ts";

/**
 * The part of Elasticsearch that loggers use: the bulk API and the requests before it.
 * https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk
 */
export const elasticsearch: Protocol = {
  ...receiver,
  saysWhatIsStored: true,
  methods: "POST, PUT, OPTIONS",
  greet,
  read: readBulk,
  refused(incoming, failure) {
    const { status } = failure;
    const error = { type: errorType(status), reason: explained(failure) };
    return answer(incoming, status, { error, status });
  },
  refusedEach,
};

const bulkPath = /^\/es(?:\/([^/]+))?\/_bulk$/;
const documentPath = /^\/es\/([^/]+)\/_(?:doc|create)(?:\/[^/]+)?$/;

/** An index of this name is the default and says nothing about an event. */
const defaultIndex = "logs";

function answer({ headers }: Incoming, status: number, body: unknown): Reply {
  const asked = /application\/vnd\.elasticsearch\+json;\s*compatible-with=\d+/
    .exec(headers.get("Accept") ?? "")?.[0];
  return {
    status,
    headers: {
      "Content-Type": asked ?? "application/json",
      // Clients refuse anything else.
      "X-Elastic-Product": "Elasticsearch",
    },
    body: JSON.stringify(body),
  };
}

function errorType(status: number): string {
  if (status === 401) return "security_exception";
  if (status === 413) return "content_too_long_exception";
  if (status === 429 || status === 503) return "es_rejected_execution_exception";
  return "illegal_argument_exception";
}

/** Answers the requests that clients and shippers make before they send. */
function greet(incoming: Incoming): Reply | undefined {
  const { method, path } = incoming;
  if (bulkPath.test(path) || documentPath.test(path)) return undefined;
  if (method === "OPTIONS") return undefined;
  const isRead = method === "GET" || method === "HEAD";
  const place = path.slice("/es".length);
  if (isRead && place === "") return answer(incoming, 200, product);
  if (isRead && place.startsWith("/_cluster/health")) {
    return answer(incoming, 200, { cluster_name: "logloom", status: "green", timed_out: false });
  }
  if (isRead && place.startsWith("/_license")) {
    return answer(incoming, 200, { license: { type: "basic", status: "active" } });
  }
  if (isRead && place.startsWith("/_nodes")) return answer(incoming, 200, { nodes: {} });
  const isSetup = /^\/_(?:index_template|template|component_template|ilm|ingest|data_stream)\b/
    .test(place) || /^\/[^_/][^/]*$/.test(place);
  if (isSetup && (isRead || method === "PUT" || method === "POST")) {
    return answer(incoming, 200, { acknowledged: true });
  }
  return answer(incoming, 404, {
    error: { type: "resource_not_found_exception", reason: `Only _bulk is served: ${path}` },
    status: 404,
  });
}

const product = {
  name: "logloom",
  cluster_name: "logloom",
  cluster_uuid: "logloom",
  version: {
    number: "8.15.0",
    build_flavor: "default",
    lucene_version: "9.11.1",
    minimum_wire_compatibility_version: "7.17.0",
    minimum_index_compatibility_version: "7.0.0",
  },
  tagline: "You Know, for Search",
};

/** An action of the request, in order. */
interface Item {
  readonly action: string;
  readonly index: string;
  readonly id: string | undefined;
  /** Index among the request's events; undefined for other actions. */
  readonly event: number | undefined;
  readonly reason: string | undefined;
}

function readBulk(incoming: Incoming, content: Content, events: EventCollector): Result<Reading> {
  events.listsAllErrors = true;
  const single = documentPath.exec(incoming.path)?.[1];
  if (single !== undefined) return readDocument(single, incoming, content, events);
  const items = readItems(
    incoming,
    content,
    (action, source) => addDocument(action, content.parse(source), events),
  );
  if (typeof items === "string") return failure(400, items);
  return success({
    accepted: ({ errors }) => bulkAnswer(incoming, items, errors, Infinity, undefined),
    overloaded: ({ errors }, committed, why) => bulkAnswer(incoming, items, errors, committed, why),
  });
}

/** The actions of a request, or a text about its fault. */
function readItems(
  incoming: Incoming,
  content: Content,
  add: (action: Action, source: string) => Item,
): Item[] | string {
  const items: Item[] = [];
  const lines = linesOf(content.text);
  const pathIndex = bulkPath.exec(incoming.path)?.[1]?.slice(0, 255);
  let number = 0;
  for (const line of lines) {
    number++;
    const action = actionOf(content.parse(line), pathIndex);
    if (action === undefined) return `Malformed action line [${number}]`;
    if (items.length >= receiver.maxEvents) throw new TooManyEvents();
    if (action.name === "delete") {
      items.push(refusedItem(action, "Events cannot be deleted this way"));
      continue;
    }
    const source = lines.next();
    number++;
    if (source.done) return `The source of line [${number - 1}] is missing`;
    const isUpdate = action.name === "update";
    items.push(
      isUpdate ? refusedItem(action, "Events cannot be updated") : add(action, source.value),
    );
  }
  return items;
}

/** Answers if nothing was stored: refuses each action, without parsing the documents. */
function refusedEach(incoming: Incoming, why: Failure, content: Content): Reply | undefined {
  if (!bulkPath.test(incoming.path)) return undefined;
  try {
    let events = 0;
    const items = readItems(
      incoming,
      content,
      ({ name, index, id }) => ({ action: name, index, id, event: events++, reason: undefined }),
    );
    if (typeof items === "string" || items.length === 0) return undefined;
    return bulkAnswer(incoming, items, [], 0, why);
  } catch (error) {
    // Too many events: the request is refused as a whole.
    if (error instanceof TooManyEvents || error instanceof ExcessiveJson) return undefined;
    throw error;
  }
}

interface Action {
  readonly name: string;
  readonly index: string;
  readonly id: string | undefined;
}

function actionOf(value: unknown, pathIndex: string | undefined): Action | undefined {
  if (!isObject(value)) return undefined;
  const name = ["index", "create", "update", "delete"].find((known) => Object.hasOwn(value, known));
  if (name === undefined) return undefined;
  const { _index: index, _id: id } = isObject(value[name]) ? value[name] : {};
  return {
    name,
    index: isText(index) ? index : pathIndex ?? defaultIndex,
    id: isText(id) ? id : undefined,
  };
}

function refusedItem({ name, index, id }: Action, reason: string): Item {
  return { action: name, index, id, event: undefined, reason };
}

function addDocument(action: Action, document: unknown, events: EventCollector): Item {
  if (!isObject(document)) return refusedItem(action, "The document is not a JSON object");
  if (action.index !== defaultIndex) addMember(document, "_index", action.index);
  const event = events.count;
  events.add(document);
  return { action: action.name, index: action.index, id: action.id, event, reason: undefined };
}

function bulkAnswer(
  incoming: Incoming,
  items: readonly Item[],
  rejections: readonly EventError[],
  committed: number,
  why: Failure | undefined,
): Reply {
  const rejected = new Map(rejections.map((error) => [error.index, error]));
  let errors = false;
  const answers = items.map((item) => {
    const refusal = item.event === undefined ? undefined : rejected.get(item.event);
    const reason = item.reason ?? (item.event === undefined ? "" : refusal?.message);
    const isLeft = item.event !== undefined &&
      (item.event >= committed || refusal?.code === sendAgain);
    if (reason === undefined && !isLeft) return { [item.action]: created(item) };
    errors = true;
    const { index: _index, id: _id } = item;
    const error = isLeft
      ? { type: "es_rejected_execution_exception", reason: reason ?? why?.error }
      : { type: "document_parsing_exception", reason };
    return { [item.action]: { _index, _id, status: isLeft ? 429 : 400, error } };
  });
  return answer(incoming, 200, { took: 0, errors, items: answers });
}

function created({ index, id }: { index: string; id: string | undefined }): JsonObject {
  return {
    _index: index,
    _id: id ?? crypto.randomUUID(),
    _version: 1,
    result: "created",
    _shards: { total: 1, successful: 1, failed: 0 },
    _seq_no: 0,
    _primary_term: 1,
    status: 201,
  };
}

/** Reads a request that is a single document. */
function readDocument(
  index: string,
  incoming: Incoming,
  content: Content,
  events: EventCollector,
): Result<Reading> {
  const item = addDocument(
    { name: "index", index, id: undefined },
    content.parse(content.text),
    events,
  );
  if (item.reason !== undefined) return failure(400, item.reason);
  return success({
    accepted: ({ errors }) =>
      errors.length === 0 ? answer(incoming, 201, created(item)) : answer(incoming, 400, {
        error: { type: "document_parsing_exception", reason: errors[0].message },
        status: 400,
      }),
  });
}

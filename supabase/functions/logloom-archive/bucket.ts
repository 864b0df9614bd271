import type { Outgoing, OutgoingAnswer } from "../_shared/outgoing_request.ts";
import { createS3, type S3Bucket, signedHeaders } from "../_shared/s3.ts";
import { withoutSlashesAtEnd } from "../_shared/trailing_slashes.ts";

/** An object in a list of the bucket. */
export interface Listed {
  readonly key: string;
  /** Seconds since it was written. */
  readonly age: number;
}

export interface Bucket {
  put(key: string, body: Uint8Array): Promise<void>;
  /** Undefined if there is no such object. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Deletes an object, and checks that it is gone. */
  delete(key: string): Promise<void>;
  /** Up to 1,000 keys with a prefix, in order, after the key `after`. */
  list(prefix: string, after: string): Promise<{ objects: Listed[]; isEnd: boolean }>;
  /** Why the bucket would keep deleted objects; undefined if it does not. */
  keepsVersions(): Promise<string | undefined>;
}

/** An unexpected answer of the bucket. Its message may be shown. */
export class BucketError extends Error {}

export interface BucketDependencies {
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly now: () => Date;
}

/** Longer bodies are not read. */
const largestBody = 64 * 1024 * 1024;

export function createBucket(bucket: S3Bucket, dependencies: BucketDependencies): Bucket {
  const send = createSend(dependencies);
  const s3 = createS3(bucket, send, dependencies.now);

  /** A request with a query: about the bucket, or a list of its objects. */
  async function ask(query: Record<string, string>): Promise<OutgoingAnswer & { text: string }> {
    const url = `${withoutSlashesAtEnd(bucket.endpoint)}/${
      encodeURIComponent(bucket.bucket)
    }?${new URLSearchParams(query)}`;
    const headers = signedHeaders({ method: "GET", url, headers: {} }, bucket, dependencies.now());
    const answer = await send({ method: "GET", url, headers });
    if ("error" in answer) throw new BucketError(answer.error);
    return { ...answer, text: new TextDecoder().decode(answer.body) };
  }

  async function get(key: string): Promise<Uint8Array | undefined> {
    const answer = await s3.get(key);
    if ("error" in answer) throw new BucketError(answer.error);
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw refused("return an object", answer);
    return answer.body;
  }

  return {
    get,
    put: async (key, body) => {
      const answer = await s3.put(key, body, { "Content-Type": "application/vnd.apache.parquet" });
      if ("error" in answer) throw new BucketError(answer.error);
      if (answer.status !== 200) throw refused("store an object", answer);
      const version = answer.headers.get("x-amz-version-id");
      if (version !== undefined && version !== "null") {
        throw new BucketError("The bucket keeps versions: switch versioning off");
      }
    },
    delete: async (key) => {
      const answer = await s3.delete(key);
      if ("error" in answer) throw new BucketError(answer.error);
      if (![200, 204, 404].includes(answer.status)) {
        throw refused("delete an object", answer);
      }
      if (await get(key) !== undefined) {
        throw new BucketError("The bucket did not delete an object");
      }
    },
    list: async (prefix, after) => {
      const answer = await ask({
        "list-type": "2",
        "max-keys": "1000",
        prefix,
        ...after !== "" && { "start-after": after },
      });
      const { text } = answer;
      if (answer.status !== 200) throw refused("list its objects", answer);
      // An answer that is no list would make every file look missing.
      if (!text.includes("<ListBucketResult") || !text.includes("</ListBucketResult>")) {
        throw new BucketError("The bucket's answer is not a list of objects");
      }
      const objects = text.split("<Contents>").slice(1).map((entry) => ({
        key: unescaped(element(entry, "Key")),
        age: ageOf(element(entry, "LastModified"), dependencies.now()),
      }));
      return { objects, isEnd: !/<IsTruncated>true<\/IsTruncated>/.test(text) };
    },
    keepsVersions: async () => {
      const versioning = await ask({ versioning: "" });
      if (versioning.status === 404) return "The bucket does not exist";
      if (isSkewed(versioning)) throw refused("say whether it keeps versions", versioning);
      if (versioning.status === 403) return "The key may not use the bucket";
      // Stores without versioning may not know this request. Then uploads show whether they get a version.
      if (isTrouble(versioning)) throw refused("say whether it keeps versions", versioning);
      if (/<Status>\s*Enabled\s*<\/Status>/.test(versioning.text)) {
        return "The bucket keeps versions: switch versioning off";
      }
      const lock = await ask({ "object-lock": "" });
      if (isTrouble(lock)) throw refused("say whether it locks objects", lock);
      if (/<ObjectLockEnabled>\s*Enabled\s*<\/ObjectLockEnabled>/.test(lock.text)) {
        return "The bucket locks objects: choose one without object lock";
      }
    },
  };
}

/** Whether the bucket failed. False if it only does not know the request. */
function isTrouble({ status }: OutgoingAnswer): boolean {
  return status >= 500 && status !== 501 || status === 429;
}

/** Whether the bucket refused a signature because of its time. */
function isSkewed({ status, body }: OutgoingAnswer): boolean {
  return status === 403 && new TextDecoder().decode(body).includes("RequestTimeTooSkewed");
}

function refused(what: string, answer: OutgoingAnswer): BucketError {
  const { status } = answer;
  if (isSkewed(answer)) {
    return new BucketError("The function's clock differs too much from the bucket's");
  }
  return new BucketError(
    status === 403
      ? `The bucket's key has no permission to ${what}`
      : `The bucket did not ${what}: it answered ${status}`,
  );
}

/** The text of an XML element without inner elements; empty if it is missing. */
function element(xml: string, name: string): string {
  const [, rest = ""] = xml.split(`<${name}>`, 2);
  return rest.slice(0, Math.max(rest.indexOf(`</${name}>`), 0));
}

function ageOf(time: string, now: Date): number {
  const at = Date.parse(time);
  return Number.isNaN(at) ? 0 : Math.floor((now.getTime() - at) / 1000);
}

function unescaped(text: string): string {
  const signs: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text.replace(
    /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi,
    (written, name, decimal, hex) => {
      if (name) return signs[name.toLowerCase()];
      const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
      return code > 0x10ffff ? written : String.fromCodePoint(code);
    },
  );
}

/** Sends by plain `fetch`, because the operator chose the endpoint, not a tenant. */
function createSend({ fetch, timeoutMs }: BucketDependencies): Outgoing {
  return async ({ method, url, headers, body }) => {
    try {
      const response = await fetch(url, {
        method,
        headers,
        body: body as BodyInit | undefined,
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (Number(response.headers.get("content-length") ?? "0") > largestBody) {
        await response.body?.cancel();
        return { error: "The object is larger than any archive file", isFinal: true };
      }
      return {
        status: response.status,
        headers: new Map(response.headers),
        body: new Uint8Array(await response.arrayBuffer()),
      };
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === "TimeoutError";
      return {
        error: isLate ? "The bucket did not answer in time" : "The bucket does not answer",
        isFinal: false,
      };
    }
  };
}

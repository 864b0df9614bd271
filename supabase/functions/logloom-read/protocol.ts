import type { Reader } from "./caller.ts";
import type { ReadDatabase } from "./database.ts";

/** What a protocol gets: a request, and who asks. */
export interface Asked {
  readonly request: Request;
  /** Below the function's name, such as `/v1/search_logs`. */
  readonly path: string;
  /** The 401 where nobody is named, or somebody who cannot be known. */
  readonly reader: Reader | Response;
  readonly callDatabase: ReadDatabase;
  /** The project's address as clients see it; undefined where it does not know it. */
  readonly publicUrl?: string;
}

export interface Protocol {
  /** The methods that it takes, as the header Allow lists them. */
  readonly methods: string;
  answer(asked: Asked): Promise<Response>;
}

import type { Reader } from "./reader.ts";
import type { ReadDatabase } from "./database.ts";

/** A request, and who reads. */
export interface Asked {
  readonly request: Request;
  /** The path below the function's name, such as `/v1/search_logs`. */
  readonly path: string;
  /** The refusal (401) of a request whose credentials are missing or malformed. */
  readonly reader: Reader | Response;
  readonly callDatabase: ReadDatabase;
  /** The project's address as clients see it, if it is known. */
  readonly publicUrl?: string;
}

export interface Protocol {
  /** The allowed methods, for the header Allow. */
  readonly methods: string;
  answer(asked: Asked): Promise<Response>;
}

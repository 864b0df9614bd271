export type { Rejected } from "./delivery_queue.ts";
export type { WaitUntil } from "./runtime.ts";
export { createLogger, type LoggerOptions } from "./logger.ts";
export type { SenderOptions, SupabaseClientLike } from "./sender.ts";
export type { ValueOptions } from "./plain_values.ts";
export type { Fields, Level, Log, Logger, RequestContext } from "./types.ts";

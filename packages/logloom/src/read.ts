export { LogloomError } from "./read/error.ts";
export type { Item, ListName, Operations } from "./read/operations.ts";
export {
  type ChartOptions,
  createReader,
  type RangeOptions,
  type Reader,
  type RecordOptions,
  type RecordsOptions,
  type SearchOptions,
  type TailOptions,
  type Time,
} from "./read/reader.ts";
export type { CallOptions, ReaderOptions, Session, SupabaseClientLike } from "./read/service.ts";
export type * from "./read/types.ts";

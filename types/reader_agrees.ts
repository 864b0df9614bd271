import type { Operations } from "../packages/logloom/src/read.ts";
import type { Database, Json } from "./database.ts";

// Compiles only if the reader's types of answers match the database's. The reader's may have words in place of text, a
// shape in place of JSON, and no null.

type Functions = Database["public"]["Functions"];
type Same<A, B> = [A] extends [B] ? [B] extends [A] ? true : false : false;

type Differs<Ours, Theirs, Place extends string> =
  Same<NonNullable<Theirs>, NonNullable<Json>> extends true ? never
    : NonNullable<Theirs> extends (infer TheirItem)[]
      ? NonNullable<Ours> extends (infer OurItem)[] ? Differs<OurItem, TheirItem, `${Place}[]`>
      : Place
    : NonNullable<Theirs> extends object ? {
        [Name in keyof NonNullable<Theirs> | keyof NonNullable<Ours>]: Name extends
          keyof NonNullable<Theirs> & keyof NonNullable<Ours>
          ? Differs<NonNullable<Ours>[Name], NonNullable<Theirs>[Name], `${Place}.${Name & string}`>
          : `${Place}.${Name & string}`;
      }[keyof NonNullable<Theirs> | keyof NonNullable<Ours>]
    : Same<NonNullable<Ours>, NonNullable<Theirs>> extends true ? never
    : NonNullable<Ours> extends string ? string extends NonNullable<Theirs> ? never : Place
    : NonNullable<Ours> extends NonNullable<Theirs> ? never
    : Place;

type Wrong = {
  [Name in keyof Operations]: Differs<Operations[Name]["answer"], Functions[Name]["Returns"], Name>;
}[keyof Operations];

export const nothing: { [Place in Wrong]: never } = {};

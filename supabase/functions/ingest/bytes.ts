export type Bytes = Uint8Array<ArrayBuffer>;

/** What a packed body holds. */
export interface Unpacked {
  readonly count: number;
  /** Undefined when there were more than the limit. */
  readonly bytes: Bytes | undefined;
}

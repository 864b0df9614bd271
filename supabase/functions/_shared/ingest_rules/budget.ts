/** The milliseconds of work that the rules of one body may take. The rest of 300 is for the step that is under way. */
const budgetMs = 250;
/** So many times longer may they last, because a busy machine lets them wait. */
const maxWaiting = 8;
/** What a step takes at most, beside a millisecond for each of these characters. */
const stepMs = 0.3;
const charactersPerMs = 1_000;

/**
 * The time that is left for the rules of one body. Only the time between `begin` and `end` counts. A function cannot read
 * its processor time, so a step that lasts longer than its work can take has waited for a processor: only the work counts.
 */
export class Budget {
  isOver = false;
  #left: number;
  #lasts: number;
  #last = 0;
  #stepMs = 0;

  constructor(readonly clock: () => number = () => performance.now(), milliseconds = budgetMs) {
    this.#left = milliseconds;
    this.#lasts = maxWaiting * milliseconds;
  }

  begin(): number {
    this.#stepMs = 0;
    return this.#last = this.clock();
  }

  end(): void {
    this.check();
  }

  /** Tells that the step under way reads so many characters more. */
  allow(characters: number): void {
    this.#stepMs += characters / charactersPerMs;
  }

  /** Whether the time is over. The next step reads so many characters at most. */
  readonly check = (characters = 0): boolean => {
    if (this.isOver) return true;
    const now = this.clock();
    const lasted = now - this.#last;
    this.#last = now;
    this.#left -= Math.min(lasted, this.#stepMs);
    this.#lasts -= lasted;
    this.#stepMs = stepMs + characters / charactersPerMs;
    return this.isOver = this.#left <= 0 || this.#lasts <= 0;
  };
}

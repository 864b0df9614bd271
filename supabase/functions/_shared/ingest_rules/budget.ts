/** The milliseconds that the rules of one body may take. The rest of 300 is for the piece that is under way. */
const budgetMs = 250;

/** The time that is left for the rules of one body. Only the time between `begin` and `end` counts. */
export class Budget {
  isOver = false;
  #left: number;
  #until = 0;

  constructor(readonly clock: () => number = () => performance.now(), milliseconds = budgetMs) {
    this.#left = milliseconds;
  }

  begin(): void {
    this.#until = this.clock() + this.#left;
  }

  end(): void {
    this.#left = this.#until - this.clock();
  }

  readonly check = (): boolean => this.isOver ||= this.clock() >= this.#until;
}

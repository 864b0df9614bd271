import * as terms from "./logloom.grammar.terms";
import { wordTokenizer } from "./tokenizer.ts";

export const words = wordTokenizer(terms);

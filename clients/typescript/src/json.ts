import { isLosslessNumber, parse } from "lossless-json";
import { rates } from "./generated/names.js";

/**
 * Parses JSON without losing a digit: rates are decimal text, integers numbers, or bigints from 2^53. Any other number
 * that has a fraction is decimal text too.
 */
export function parseJSON(text: string): unknown {
  return parse(text, (name, value) => (isLosslessNumber(value) ? read(name, value.value) : value));
}

function read(name: string, digits: string): number | bigint | string {
  if (rates.has(name) || !/^-?\d+$/.test(digits)) return digits;
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}
